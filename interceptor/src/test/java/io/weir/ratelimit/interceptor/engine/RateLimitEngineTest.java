// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import static io.weir.ratelimit.interceptor.engine.Fixtures.binding;
import static io.weir.ratelimit.interceptor.engine.Fixtures.engine;
import static io.weir.ratelimit.interceptor.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.interceptor.key.Calls;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class RateLimitEngineTest {
    private static final Policy BY_USER = policy("user", "principal");
    private static final Policy BY_ADDRESS = policy("address", "ip");
    private static final Policy CLOSED = policy("closed", "ip", 1, FailureMode.CLOSED);
    private static final CallContext CALL = Calls.from("203.0.113.7").andBy("alice");

    private final LogCapture log = new LogCapture();
    private final FakeBackend backend = new FakeBackend();

    @AfterEach
    void closeLog() {
        log.close();
    }

    @Test
    void policiesBecomeChargesInOrderAndOneDecision() {
        Decision decision = engine(backend).decide(binding(3, BY_USER, BY_ADDRESS), CALL);
        assertThat(backend.asked).containsExactly("user p.alice 3 & address i.203.0.113.7 3");
        assertThat(decision).isInstanceOf(Decision.Allowed.class);
        assertThat(decision.quotas()).extracting(quota -> quota.policy()).containsExactly("user", "address");
    }

    @Test
    void whoIsUnknownIsAnonymous() {
        engine(backend).decide(binding(1, BY_USER, BY_ADDRESS), CallContext.NONE);
        assertThat(backend.asked).containsExactly("user anon 1 & address anon 1");
    }

    @Test
    void aRefusalIsADecisionAndNoFailure() {
        backend.refuses = true;
        Outages outages = new Outages("fake", () -> 0, List.of());
        Decision decision = engine(backend, outages).decide(binding(1, BY_USER), CALL);
        assertThat(decision).isInstanceOf(Decision.Rejected.class);
        assertThat(outages.away()).isFalse();
        assertThat(outages.degradedDecisions()).isZero();
    }

    @ParameterizedTest
    @EnumSource(Reason.class)
    void anOpenPolicyLetsThroughWhenTheStoreFails(Reason reason) {
        backend.failure = FakeBackend.down(reason);
        assertThat(engine(backend).decide(binding(1, BY_USER), CALL))
                .isEqualTo(new Decision.Degraded(FailureMode.OPEN, true, reason.tag()));
    }

    @ParameterizedTest
    @EnumSource(Reason.class)
    void aClosedPolicyRefusesWhenTheStoreFails(Reason reason) {
        backend.failure = FakeBackend.down(reason);
        assertThat(engine(backend).decide(binding(1, CLOSED), CALL))
                .isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, reason.tag()));
    }

    @Test
    void theStrictestModeOfSeveralPoliciesWins() {
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        Decision closed = new Decision.Degraded(FailureMode.CLOSED, false, "timeout");
        assertThat(engine(backend).decide(binding(1, BY_USER, CLOSED), CALL)).isEqualTo(closed);
        assertThat(engine(backend).decide(binding(1, CLOSED, BY_USER), CALL)).isEqualTo(closed);
        assertThat(engine(backend).decide(binding(1, BY_ADDRESS, BY_USER), CALL).allowed())
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
    void anythingElseThatAStoreThrowsDegradesToo(RuntimeException failure) {
        backend.failure = failure;
        assertThat(engine(backend).decide(binding(1, CLOSED), CALL))
                .isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, "refused"));
    }

    @Test
    void aFailureWithinACompletionIsTheFailure() {
        BackendException inner = FakeBackend.down(Reason.CONNECTION);
        assertThat(DecidingStore.known(new CompletionException(inner))).isSameAs(inner);
        assertThat(DecidingStore.known(inner)).isSameAs(inner);
        assertThat(DecidingStore.known(new IllegalStateException("x")))
                .hasMessage("the store failed with java.lang.IllegalStateException")
                .hasCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void everyDegradedDecisionIsCounted() {
        Outages outages = new Outages("fake", () -> 0, List.of());
        RateLimitEngine engine = engine(backend, outages);
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        for (int i = 0; i < 7; i++) {
            engine.decide(binding(1, BY_USER), CALL);
        }
        backend.failure = null;
        engine.decide(binding(1, BY_USER), CALL);
        assertThat(outages.degradedDecisions()).isEqualTo(7);
    }

    @Test
    void listenersHearOfEveryDecisionInOrder() {
        List<String> heard = new ArrayList<>();
        DecisionListener first = event -> heard.add(event.endpoint() + " " + event.charges() + " "
                + event.decision().getClass().getSimpleName());
        DecisionListener second = event -> heard.add("second");
        RateLimitEngine engine = engine(backend, first, second);
        Binding binding = binding(2, BY_USER);
        engine.decide(binding, CALL);
        backend.refuses = true;
        engine.decide(binding, CALL);
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        engine.decide(binding, CALL);
        String charge = "Search.find [Charge[user[100/1m sliding-window], cost=2]] ";
        assertThat(heard)
                .containsExactly(
                        charge + "Allowed", "second", charge + "Rejected", "second", charge + "Degraded", "second");
    }

    @Test
    void listenersHearHowLongTheStoreTook() {
        List<Long> nanos = new ArrayList<>();
        RateLimitEngine engine = engine(backend, event -> nanos.add(event.nanos()));
        long start = System.nanoTime();
        engine.decide(binding(1, BY_USER), CALL);
        long most = System.nanoTime() - start;
        assertThat(nanos).singleElement().satisfies(took -> assertThat(took).isBetween(1L, most));
    }

    /** Or a listener that asks for a decision would hear of that one too, without end. */
    @Test
    void whatAListenerAsksForIsDecidedAndNotTold() {
        List<Decision> decided = new ArrayList<>();
        RateLimitEngine[] engine = new RateLimitEngine[1];
        engine[0] = engine(backend, event -> decided.add(engine[0].decide(binding(1, BY_ADDRESS), CALL)));
        engine[0].decide(binding(1, BY_USER), CALL);
        engine[0].decide(binding(1, BY_USER), CALL);
        assertThat(decided).hasSize(2);
        assertThat(backend.asked).hasSize(4);
    }

    @Test
    void aListenerSeesTheRequestWithTheChargeAndHoldsNoOtherThreadOfIt() {
        RequestRecord request = new RequestRecord(CALL);
        List<Decision> decided = new ArrayList<>();
        RateLimitEngine[] engine = new RateLimitEngine[1];
        engine[0] = engine(
                backend,
                event -> decided.add(
                        CompletableFuture.supplyAsync(() -> engine[0].decide(binding(1, BY_USER), CALL, request))
                                .orTimeout(10, TimeUnit.SECONDS)
                                .join()));
        engine[0].decide(binding(1, BY_USER), CALL, request);
        assertThat(decided).hasSize(1);
        assertThat(backend.asked).as("charged once").hasSize(1);
    }

    @Test
    void anAsynchronousDecisionTookAsLongAsTheStoreAndNotAsTheExecutor() {
        List<Long> nanos = new ArrayList<>();
        Deque<Runnable> busy = new ArrayDeque<>();
        RateLimitEngine engine = engine(backend, event -> nanos.add(event.nanos()));
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

    static Stream<Throwable> whatListenersThrow() {
        return Stream.of(
                new IllegalStateException("x"),
                new NoClassDefFoundError("x"),
                new AssertionError("x"),
                new StackOverflowError());
    }

    @ParameterizedTest
    @MethodSource("whatListenersThrow")
    void aListenerThatThrowsChangesNothingAndIsMentionedOnce(Throwable thrown) {
        List<Decision> heard = new ArrayList<>();
        DecisionListener throwing = throwing(thrown);
        RateLimitEngine engine = engine(backend, throwing, event -> heard.add(event.decision()));
        RequestRecord request = new RequestRecord(CALL);
        Decision decision = engine.decide(binding(1, BY_USER), CALL, request);
        engine.decide(binding(1, BY_USER), CALL);
        engine.decide(binding(1, BY_USER), CALL);
        assertThat(decision.allowed()).isTrue();
        assertThat(request.last()).contains(decision);
        assertThat(heard).hasSize(3).startsWith(decision);
        assertThat(log.lines())
                .containsExactly("WARNING WEIR-303 the listener "
                        + throwing.getClass().getName() + " failed, which changes nothing; said once");
    }

    private static DecisionListener throwing(Throwable thrown) {
        return event -> sneak(thrown);
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
