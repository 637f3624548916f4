// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static io.weir.ratelimit.core.engine.Fixtures.health;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.Tiers;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.ManualTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RateLimitEngineTest {
    private static final Policy BY_USER = policy("user", "principal");
    private static final Policy BY_ADDRESS = policy("address", "ip");
    private static final Policy CLOSED = policy("closed", "ip", 1, FailureMode.CLOSED);
    private static final TestCall CALL = TestCall.fromAddress("203.0.113.7").withPrincipal("alice");

    private final LogCapture log = new LogCapture();
    private final FakeBackend backend = new FakeBackend();

    @AfterEach
    void closeLog() {
        log.close();
    }

    @Test
    void decidesAllPoliciesInOrderAtOnce() {
        Decision decision = engine(backend).decide(binding(3, BY_USER, BY_ADDRESS), CALL, null);
        assertThat(backend.calls).containsExactly("user p.alice 3 & address i.203.0.113.7 3");
        assertThat(decision).isInstanceOf(Decision.Allowed.class);
        assertThat(decision.quotas()).extracting(quota -> quota.policy()).containsExactly("user", "address");
    }

    @Test
    void anUnknownCallerIsAnonymous() {
        engine(backend).decide(binding(1, BY_USER, BY_ADDRESS), CallContext.NONE, null);
        assertThat(backend.calls).containsExactly("user anon 1 & address anon 1");
    }

    @Test
    void aRejectionIsNotAFailureOfTheBackend() {
        backend.rejects = true;
        BackendHealth health = health(backend);
        Decision decision = engine(backend, health).decide(binding(1, BY_USER), CALL, null);
        assertThat(decision).isInstanceOf(Decision.Rejected.class);
        assertThat(health.isUnavailable()).isFalse();
        assertThat(health.report().degradedDecisions()).isZero();
    }

    @ParameterizedTest
    @EnumSource(Reason.class)
    void anOpenPolicyAllowsCallsIfTheBackendFails(Reason reason) {
        backend.failure = FakeBackend.down(reason);
        assertThat(engine(backend).decide(binding(1, BY_USER), CALL, null))
                .isEqualTo(new Decision.Degraded(FailureMode.OPEN, true, reason.tag()));
    }

    @ParameterizedTest
    @EnumSource(Reason.class)
    void aClosedPolicyRejectsCallsIfTheBackendFails(Reason reason) {
        backend.failure = FakeBackend.down(reason);
        assertThat(engine(backend).decide(binding(1, CLOSED), CALL, null))
                .isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, reason.tag()));
    }

    @Test
    void theStrictestFailureModeApplies() {
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        Decision closed = new Decision.Degraded(FailureMode.CLOSED, false, "timeout");
        assertThat(engine(backend).decide(binding(1, BY_USER, CLOSED), CALL, null))
                .isEqualTo(closed);
        assertThat(engine(backend).decide(binding(1, CLOSED, BY_USER), CALL, null))
                .isEqualTo(closed);
        assertThat(engine(backend)
                        .decide(binding(1, BY_ADDRESS, BY_USER), CALL, null)
                        .allowed())
                .isTrue();
    }

    private static List<RuntimeException> anyFailure() {
        return List.of(
                new IllegalStateException("x"),
                new NullPointerException(),
                new UnsupportedOperationException(),
                new CompletionException(null),
                new CompletionException(new IllegalStateException("x")));
    }

    @ParameterizedTest
    @MethodSource("anyFailure")
    void anyExceptionOfTheBackendIsAFailure(RuntimeException failure) {
        backend.failure = failure;
        assertThat(engine(backend).decide(binding(1, CLOSED), CALL, null))
                .isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, "backend-error"));
    }

    @Test
    void unwrapsTheFailureOfACompletion() {
        BackendException inner = FakeBackend.down(Reason.CONNECTION);
        assertThat(FallbackBackend.asBackendException(new CompletionException(inner)))
                .isSameAs(inner);
        assertThat(FallbackBackend.asBackendException(inner)).isSameAs(inner);
        assertThat(FallbackBackend.asBackendException(new IllegalStateException("x")))
                .hasMessage("the backend failed with java.lang.IllegalStateException")
                .hasCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void countsDegradedDecisions() {
        BackendHealth health = health(backend);
        RateLimitEngine engine = engine(backend, health);
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        for (int i = 0; i < 7; i++) {
            engine.decide(binding(1, BY_USER), CALL, null);
        }
        backend.failure = null;
        engine.decide(binding(1, BY_USER), CALL, null);
        assertThat(health.report().degradedDecisions()).isEqualTo(7);
    }

    @Test
    void notifiesListenersOfEveryDecisionInOrder() {
        List<String> events = new ArrayList<>();
        DecisionListener first = event -> events.add(event.endpoint() + " " + event.charges() + " "
                + event.decision().getClass().getSimpleName());
        DecisionListener second = event -> events.add("second");
        RateLimitEngine engine = engine(backend, first, second);
        Binding binding = binding(2, BY_USER);
        engine.decide(binding, CALL, null);
        backend.rejects = true;
        engine.decide(binding, CALL, null);
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        engine.decide(binding, CALL, null);
        String charge = "Search.find [Charge[user[100/1m sliding-window], cost=2]] ";
        assertThat(events)
                .containsExactly(
                        charge + "Allowed", "second", charge + "Rejected", "second", charge + "Degraded", "second");
    }

    @Test
    void notifiesListenersOfTheDurationOfTheBackend() {
        List<Long> nanos = new ArrayList<>();
        RateLimitEngine engine = engine(backend, event -> nanos.add(event.durationNanos()));
        long start = System.nanoTime();
        engine.decide(binding(1, BY_USER), CALL, null);
        long most = System.nanoTime() - start;
        assertThat(nanos).singleElement().satisfies(took -> assertThat(took).isBetween(1L, most));
    }

    private static class RejectionListener implements DecisionListener {
        private final List<DecisionEvent> events = new ArrayList<>();
        private boolean fails;

        @Override
        public boolean needs(Decision decision) {
            if (fails) {
                throw new IllegalStateException("x");
            }
            return !decision.allowed();
        }

        @Override
        public void onDecision(DecisionEvent event) {
            events.add(event);
        }
    }

    @Test
    void aListenerIsNotifiedOfTheDecisionsItNeeds() {
        RejectionListener listener = new RejectionListener();
        RateLimitEngine engine = engine(backend, listener);
        engine.decide(binding(1, BY_USER), CALL, null);
        assertThat(listener.events).isEmpty();
        backend.rejects = true;
        engine.decide(binding(1, BY_USER), CALL, null);
        assertThat(listener.events)
                .singleElement()
                .satisfies(event -> assertThat(event.decision()).isInstanceOf(Decision.Rejected.class));
    }

    @Test
    void aListenerIsNotifiedIfItFailsToSelect() {
        RejectionListener listener = new RejectionListener();
        listener.fails = true;
        engine(backend, listener).decide(binding(1, BY_USER), CALL, null);
        assertThat(listener.events).hasSize(1);
    }

    @Test
    void callsOfDifferentCallersHaveTheirOwnCharges() {
        RateLimitEngine engine = engine(backend);
        engine.decide(binding(1, BY_USER), CALL, null);
        engine.decide(binding(1, BY_USER), CALL.withPrincipal("bob"), null);
        engine.decide(binding(2, BY_USER), CALL, null);
        engine.decide(binding(1, BY_ADDRESS), CALL, null);
        engine.decide(binding(1, policy("both", "principal + ip")), CALL, null);
        engine.decide(binding(1, BY_USER), CallContext.NONE, null);
        engine.decide(binding(1, BY_USER), CALL, null);
        assertThat(backend.calls)
                .containsExactly(
                        "user p.alice 1",
                        "user p.bob 1",
                        "user p.alice 2",
                        "address i.203.0.113.7 1",
                        "both p.alice+i.203.0.113.7 1",
                        "user anon 1",
                        "user p.alice 1");
    }

    @Test
    void callsUnderSeveralPoliciesHaveTheirOwnCharges() {
        Policy all = policy("all", "global");
        RateLimitEngine engine = engine(backend);
        for (int repeated = 0; repeated < 2; repeated++) {
            engine.decide(binding(1, BY_ADDRESS, CLOSED, all), CALL, null);
            engine.decide(binding(2, BY_ADDRESS, CLOSED, all), CALL, null);
            engine.decide(binding(1, all, BY_ADDRESS), CALL, null);
            engine.decide(binding(1, all, BY_USER), CALL.withPrincipal("203.0.113.7"), null);
            engine.decide(binding(1, BY_ADDRESS, CLOSED), CallContext.NONE, null);
            assertThat(backend.calls)
                    .containsExactly(
                            "address i.203.0.113.7 1 & closed i.203.0.113.7 1 & all all 1",
                            "address i.203.0.113.7 2 & closed i.203.0.113.7 2 & all all 2",
                            "all all 1 & address i.203.0.113.7 1",
                            "all all 1 & user p.203.0.113.7 1",
                            "address anon 1 & closed anon 1");
            backend.calls.clear();
        }
    }

    /** A call that counts how often it is asked for its address. */
    private static final class AskedCall implements CallContext {
        private int asked;

        @Override
        public Optional<String> peerAddress() {
            asked++;
            return Optional.of("203.0.113.7");
        }

        @Override
        public Optional<String> principal() {
            return Optional.of("alice");
        }

        @Override
        public Optional<String> header(String name) {
            return Optional.empty();
        }

        @Override
        public Optional<Object> argument(String name) {
            return Optional.empty();
        }
    }

    @ParameterizedTest
    @CsvSource({"ip, ip", "ip, global", "ip, principal", "ip | principal, principal"})
    void policiesWithTheSameKeyResolveItOnce(String key, String other) {
        AskedCall call = new AskedCall();
        engine(backend).decide(binding(1, policy("a", key), policy("b", other), policy("c", key)), call, null);
        assertThat(call.asked).isEqualTo(1);
        assertThat(backend.calls)
                .singleElement()
                .satisfies(charged ->
                        assertThat(charged).startsWith("a i.203.0.113.7 1 & b ").endsWith(" 1 & c i.203.0.113.7 1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ip", "global"})
    void aLaterCallUnderSeveralPoliciesHasTheSameCharges(String other) {
        List<List<Charge>> charged = new ArrayList<>();
        RateLimitEngine engine = engine(backend, event -> charged.add(event.charges()));
        Binding binding = binding(1, BY_ADDRESS, policy("b", other));
        for (int call = 0; call < 2; call++) {
            engine.decide(binding, TestCall.fromAddress("203.0.113.7"), null);
        }
        assertThat(charged.get(1)).hasSize(2).isSameAs(charged.get(0));
    }

    /** The second call finds the counter of the first one, whose shadow charge is allowed. */
    @Test
    void aShadowRejectionOfAKnownKeyCountsAsARejection() {
        LocalBackend local = new LocalBackend(10, new ManualTime());
        TopKeysTracker topKeys = new TopKeysTracker(new KeyMasker(Optional.empty()), () -> 0);
        RateLimitEngine engine = RateLimitEngine.on(Fixtures.withFallback(local, health(local)))
                .topKeys(topKeys)
                .build();
        Binding binding = binding(6, Fixtures.staged("staged", "ip", 0), BY_ADDRESS);
        for (int call = 0; call < 2; call++) {
            assertThat(engine.decide(binding, CALL, null).allowed()).isTrue();
        }
        assertThat(topKeys.top("staged").rejected())
                .singleElement()
                .satisfies(top -> assertThat(top.maxCount()).isEqualTo(1));
        assertThat(topKeys.top("address").rejected()).isEmpty();
    }

    @Test
    void aChangedTierAppliesToTheNextCall() {
        PolicyLimits free = new PolicyLimits("user", "free", BY_USER.limits().limits());
        PolicyLimits gold = new PolicyLimits("user", "gold", BY_USER.limits().limits());
        List<String> tier = new ArrayList<>(List.of("free"));
        Policy tiers = BY_USER.toBuilder()
                .tiers(new Tiers("x", call -> Optional.of(tier.get(0)), Map.of("free", free, "gold", gold)))
                .cost(1)
                .onFailure(FailureMode.OPEN)
                .maxWaiting(Policy.MAX_WAITING)
                .mode(Policy.Mode.ENFORCE)
                .count(Policy.Count.ALWAYS)
                .disclosure(Policy.Disclosure.FULL)
                .help(Optional.empty())
                .pathRule(Optional.empty())
                .build();
        List<String> charged = new ArrayList<>();
        RateLimitEngine engine = engine(
                backend, event -> charged.add(event.charges().get(0).policy().tier()));
        engine.decide(binding(1, tiers), CALL, null);
        tier.set(0, "gold");
        engine.decide(binding(1, tiers), CALL, null);
        assertThat(charged).containsExactly("free", "gold");
    }

    @Test
    void aListenerIsAskedOnceAboutAnAllowedDecision() {
        List<Decision> asked = new ArrayList<>();
        RateLimitEngine engine = engine(backend, new RejectionListener() {
            @Override
            public boolean needs(Decision decision) {
                asked.add(decision);
                return super.needs(decision);
            }
        });
        engine.decide(binding(1, BY_USER), CALL, null);
        assertThat(asked).containsExactly(Decision.Allowed.UNLIMITED);
        backend.rejects = true;
        Decision rejected = engine.decide(binding(1, BY_USER), CALL, null);
        assertThat(asked).containsExactly(Decision.Allowed.UNLIMITED, Decision.Allowed.UNLIMITED, rejected);
    }

    @Test
    void aListenerThatNeedsNoDecisionIsNotifiedOfABypass() {
        List<String> bypassed = new ArrayList<>();
        RateLimitEngine engine = engine(backend, new DecisionListener() {
            @Override
            public boolean needs(Decision decision) {
                return false;
            }

            @Override
            public void onDecision(DecisionEvent event) {
                throw new AssertionError("it needs no decision");
            }

            @Override
            public void onBypass(String endpoint, List<PolicyLimits> policies) {
                bypassed.add(endpoint);
            }
        });
        engine.decide(binding(1, BY_USER), CALL, null);
        engine.bypass(binding(1, BY_USER));
        assertThat(bypassed).containsExactly("Search.find");
    }

    /** Otherwise a listener that requests a decision would be notified of it too, without end. */
    @Test
    void decisionsOfAListenerAreNotNotified() {
        List<Decision> decided = new ArrayList<>();
        RateLimitEngine[] engine = new RateLimitEngine[1];
        engine[0] = engine(backend, event -> decided.add(engine[0].decide(binding(1, BY_ADDRESS), CALL, null)));
        engine[0].decide(binding(1, BY_USER), CALL, null);
        engine[0].decide(binding(1, BY_USER), CALL, null);
        assertThat(decided).hasSize(2);
        assertThat(backend.calls).hasSize(4);
    }

    @Test
    void notifiesListenersAfterTheChargeAndWithoutAMonitor() {
        RequestState request = new RequestState(CALL);
        List<Decision> decided = new ArrayList<>();
        RateLimitEngine[] engine = new RateLimitEngine[1];
        engine[0] = engine(
                backend,
                event -> decided.add(CompletableFuture.supplyAsync(
                                () -> engine[0].decide(binding("Search.other", 1, BY_USER), CALL, request))
                        .orTimeout(10, TimeUnit.SECONDS)
                        .join()));
        engine[0].decide(binding(1, BY_USER), CALL, request);
        assertThat(decided).hasSize(1);
        assertThat(backend.calls).as("charged once").hasSize(1);
    }

    @Test
    void theDurationOfAnAsynchronousDecisionExcludesTheExecutor() {
        List<Long> nanos = new ArrayList<>();
        Deque<Runnable> busy = new ArrayDeque<>();
        RateLimitEngine engine = engine(backend, event -> nanos.add(event.durationNanos()));
        long start = System.nanoTime();
        CompletableFuture<Decision> decision =
                engine.decideAsync(binding(1, BY_USER), Identity.principal("alice"), busy::add);
        long answered = System.nanoTime() - start;
        while (System.nanoTime() - start < 2 * answered) {
            Thread.onSpinWait();
        }
        busy.remove().run();
        assertThat(decision).isDone();
        assertThat(nanos).singleElement().satisfies(took -> assertThat(took).isBetween(0L, answered));
    }

    static Stream<Throwable> thrownByListeners() {
        return Stream.of(
                new IllegalStateException("x"),
                new NoClassDefFoundError("x"),
                new AssertionError("x"),
                new StackOverflowError());
    }

    @ParameterizedTest
    @MethodSource("thrownByListeners")
    void aFailingListenerHasNoEffectAndIsLoggedOnce(Throwable thrown) {
        List<Decision> events = new ArrayList<>();
        DecisionListener failing = failing(thrown);
        RateLimitEngine engine = engine(backend, failing, event -> events.add(event.decision()));
        RequestState request = new RequestState(CALL);
        Decision decision = engine.decide(binding(1, BY_USER), CALL, request);
        engine.decide(binding(1, BY_USER), CALL, null);
        engine.decide(binding(1, BY_USER), CALL, null);
        assertThat(decision.allowed()).isTrue();
        assertThat(request.quotas().last()).contains(decision);
        assertThat(events).hasSize(3).startsWith(decision);
        assertThat(log.lines())
                .containsExactly("WARNING WEIR-303 Listener "
                        + failing.getClass().getName()
                        + " failed. Decisions are not affected. Later failures of this listener are not logged.");
    }

    private static DecisionListener failing(Throwable thrown) {
        return event -> throwUnchecked(thrown);
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> void throwUnchecked(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
