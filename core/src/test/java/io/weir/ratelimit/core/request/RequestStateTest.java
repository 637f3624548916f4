// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.engine.FakeBackend;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RequestStateTest {
    private static final Policy A = policy("a", "principal");
    private static final Policy B = policy("b", "principal");
    private static final Policy BY_ARGUMENT = policy("arg", "arg:x");
    private static final Binding OTHER = binding("Search.other", 1, A);
    private static final TestCall ALICE = TestCall.byPrincipal("alice");

    private final LogCapture log = new LogCapture();
    private final FakeBackend backend = new FakeBackend();
    private final RateLimitEngine engine = engine(backend);
    private final RequestState request = new RequestState(ALICE);

    @AfterEach
    void closeLog() {
        log.close();
    }

    @Test
    void chargesDifferentMethodsOfARequestOncePerPolicyAndKey() {
        engine.decide(binding(1, A), ALICE, request);
        Decision second = engine.decide(OTHER, ALICE, request);
        assertThat(backend.calls).containsExactly("a p.alice 1");
        assertThat(second).isEqualTo(Decision.Allowed.UNLIMITED);
    }

    @Test
    void chargesEachCallOfAMethod() {
        engine.decide(binding(1, A), ALICE, request);
        engine.decide(binding(1, A), ALICE, request);
        engine.decide(OTHER, ALICE, request);
        engine.decide(OTHER, ALICE, request);
        engine.decide(OTHER, ALICE, request);
        assertThat(backend.calls).containsExactly("a p.alice 1", "a p.alice 1", "a p.alice 1");
    }

    @Test
    void keepsTheInstantOfTheLastDecisionForTheResponse() {
        for (Policy policy : List.of(A, B)) {
            long before = System.nanoTime();
            engine.decide(binding(1, policy), ALICE, request);
            assertThat(request.quotas().atNanos() - before).isBetween(0L, System.nanoTime() - before);
        }
    }

    @Test
    void aCallWithAHigherCostPaysTheDifference() {
        engine.decide(binding(3, A), ALICE, request);
        engine.decide(binding("Search.second", 10, A), ALICE, request);
        engine.decide(binding("Search.third", 5, A), ALICE, request);
        engine.decide(binding("Search.fourth", 11, A), ALICE, request);
        assertThat(backend.calls).containsExactly("a p.alice 3", "a p.alice 7", "a p.alice 1");
    }

    /** Each decision waits for a second one in parallel, which must not come. */
    @Test
    void chargesParallelMethodsOfARequestOnce() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        CallContext meeting = new Observed(ALICE, () -> {
            both.countDown();
            try {
                both.await(300, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        List<Decision> charged = new CopyOnWriteArrayList<>();
        RateLimitEngine parallel = engine(new LocalBackend(10), event -> charged.add(event.decision()));
        Thread other = new Thread(() -> parallel.decide(OTHER, meeting, request));
        other.start();
        assertThat(parallel.decide(binding(1, A), meeting, request).allowed()).isTrue();
        other.join();
        assertThat(charged).hasSize(1);
    }

    @Test
    void anArgumentWhoseTextFailsIsAnonymousAndIsLoggedOnce() {
        Object hostile = new Object() {
            @Override
            public String toString() {
                throw new IllegalStateException("no text");
            }
        };
        engine.decide(binding(1, BY_ARGUMENT), ALICE.withArgument("x", hostile), null);
        engine.decide(binding(1, BY_ARGUMENT), ALICE.withArgument("x", hostile), null);
        assertThat(backend.calls).containsExactly("arg anon 1", "arg anon 1");
        assertThat(log.lines()).singleElement().asString().contains("WEIR-305", "arg");
    }

    @Test
    void theFirstCallOfAResourceMethodIsTheCallOfItsFilter() {
        Binding method = binding(1, A);
        assertThat(request.takeEntered(method)).isFalse();
        request.enter(method);
        assertThat(request.takeEntered(OTHER)).isFalse();
        assertThat(request.takeEntered(method)).isTrue();
        assertThat(request.takeEntered(method)).isFalse();
    }

    private record Observed(CallContext call, Runnable onPrincipal) implements CallContext {
        @Override
        public Optional<String> peerAddress() {
            return call.peerAddress();
        }

        @Override
        public Optional<String> principal() {
            onPrincipal.run();
            return call.principal();
        }

        @Override
        public Optional<String> header(String name) {
            return call.header(name);
        }

        @Override
        public Optional<Object> argument(String name) {
            return call.argument(name);
        }
    }

    @Test
    void chargesOtherPoliciesAndOtherKeys() {
        engine.decide(binding(1, A), ALICE, request);
        engine.decide(binding("Search.other", 1, A, B), ALICE, request);
        engine.decide(binding(1, A), TestCall.byPrincipal("bob"), request);
        engine.decide(binding(1, A), ALICE, new RequestState(ALICE));
        assertThat(backend.calls).containsExactly("a p.alice 1", "b p.alice 1", "a p.bob 1", "a p.alice 1");
    }

    @Test
    void chargesEachCallOutsideOfARequest() {
        engine.decide(binding(1, A), ALICE, null);
        engine.decide(binding(1, A), ALICE, null);
        assertThat(backend.calls).containsExactly("a p.alice 1", "a p.alice 1");
    }

    @Test
    void aRejectedCallIsDecidedAgain() {
        backend.rejects = true;
        assertThat(engine.decide(binding(1, A), ALICE, request).allowed()).isFalse();
        backend.rejects = false;
        assertThat(engine.decide(binding(1, A), ALICE, request).allowed()).isTrue();
        assertThat(backend.calls).hasSize(2);
    }

    @Test
    void aDegradedDecisionHoldsForTheRequest() {
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        engine.decide(binding(1, A), ALICE, request);
        engine.decide(binding(1, A), ALICE, request);
        assertThat(backend.calls).hasSize(1);
        assertThat(request.quotas().last()).containsInstanceOf(Decision.Degraded.class);
        assertThat(request.quotas().all()).isEmpty();
    }

    @Test
    void aCallThatAClosedPolicyRejectedIsDecidedAgain() {
        Policy closed = policy("c", "principal", 1, FailureMode.CLOSED);
        backend.failure = FakeBackend.down(Reason.FULL);
        assertThat(engine.decide(binding(1, closed), ALICE, request).allowed()).isFalse();
        backend.failure = null;
        assertThat(engine.decide(binding(1, closed), ALICE, request).allowed()).isTrue();
        assertThat(request.quotas().last()).containsInstanceOf(Decision.Allowed.class);
    }

    @Test
    void everyChargedDecisionHasAReceipt() {
        assertThat(Stream.of(binding(1, A), binding(2, A), binding(1, B))
                        .map(binding -> (Decision.Allowed) engine.decide(binding, ALICE, request)))
                .extracting(allowed -> allowed.receipt().toString())
                .containsExactly("receipt 1", "receipt 2", "receipt 3");
    }

    @Test
    void keepsTheLatestQuotaOfEachLimit() {
        engine.decide(binding(1, A, B), ALICE, request);
        engine.decide(binding(2, A), ALICE, request);
        assertThat(request.quotas().all()).extracting(Quota::name).containsExactly("b", "a");
        assertThat(request.quotas().all()).extracting(Quota::remaining).containsExactly(99L, 98L);
    }

    @Test
    void aDeferredDecisionIsPendingUntilItIsTaken() {
        Binding binding = binding(1, BY_ARGUMENT);
        assertThat(binding.needsArguments()).isTrue();
        assertThat(request.pending()).isEmpty();
        request.bind(binding, binding, true);
        assertThat(request.pending()).contains(binding);
        engine.decide(binding(1, A), ALICE, request);
        assertThat(request.pending()).as("another method's decision").contains(binding);
        engine.decide(binding, ALICE.withArgument("x", "1"), request);
        assertThat(request.pending()).isEmpty();
        assertThat(backend.calls).containsExactly("a p.alice 1", "arg a.x.1 1");
    }

    @Test
    void aDeferredDecisionEndsWithARejectionAndIfItIsPaid() {
        Binding binding = binding(1, BY_ARGUMENT);
        backend.rejects = true;
        request.bind(binding, binding, true);
        engine.decide(binding, ALICE.withArgument("x", "1"), request);
        assertThat(request.pending()).isEmpty();
        backend.rejects = false;
        engine.decide(binding("Search.other", 1, BY_ARGUMENT), ALICE.withArgument("x", "1"), request);
        request.bind(binding, binding, true);
        engine.decide(binding, ALICE.withArgument("x", "1"), request);
        assertThat(request.pending()).isEmpty();
        assertThat(backend.calls).hasSize(2);
    }

    @Test
    void aReloadDoesNotChangeTheDeferredPoliciesOfARequest() {
        Binding before = binding(1, BY_ARGUMENT, A);
        request.bind(binding(1, BY_ARGUMENT), before, true);
        Binding bound = request.bindingOf(binding(7, BY_ARGUMENT));
        assertThat(bound).isEqualTo(before);
        assertThat(request.bindingOf(OTHER)).isEqualTo(OTHER);
        engine.decide(bound, ALICE.withArgument("x", "1"), request);
        assertThat(request.pending()).isEmpty();
    }

    @Test
    void isEmptyBeforeTheFirstDecision() {
        assertThat(request.caller()).isSameAs(ALICE);
        assertThat(request.quotas().last()).isEmpty();
        assertThat(request.quotas().all()).isEmpty();
    }

    @Test
    void aMethodWithoutPoliciesIsNotLimited() {
        assertThat(engine.decide(Binding.NONE, ALICE, request)).isSameAs(Decision.Allowed.UNLIMITED);
        assertThat(Binding.NONE.needsArguments()).isFalse();
        assertThat(backend.calls).isEmpty();
    }

    @Test
    void keepsTheLastDecisionWithItsCharges() {
        assertThat(request.quotas().lastEvent()).isEmpty();
        engine.decide(binding(3, A), ALICE, request);
        Decision last = engine.decide(binding("Search.other", 10, A), ALICE, request);
        assertThat(request.quotas().lastEvent()).hasValueSatisfying(event -> {
            assertThat(event.endpoint()).isEqualTo("Search.other");
            assertThat(event.charges()).extracting(Charge::cost).containsExactly(7L);
            assertThat(event.decision()).isEqualTo(last);
        });
    }

    @Test
    void oneMinimalPolicyHidesTheQuotasOfTheRequest() {
        engine.decide(binding(1, A), ALICE, request);
        assertThat(request.quotas().areHidden()).isFalse();
        engine.decide(binding(1, disclosing(Policy.Mode.SHADOW)), ALICE, request);
        assertThat(request.quotas().areHidden()).as("shadow").isFalse();
        engine.decide(binding(1, disclosing(Policy.Mode.ENFORCE), A), ALICE, request);
        assertThat(request.quotas().areHidden()).isTrue();
        engine.decide(binding(1, B), ALICE, request);
        assertThat(request.quotas().areHidden()).isTrue();
    }

    @Test
    void checksEachCallerOnceForABypass() {
        List<CallContext> checked = new ArrayList<>();
        assertThat(request.bypasses(call -> !checked.add(call))).isFalse();
        assertThat(request.bypasses(call -> checked.add(call))).as("known").isFalse();
        TestCall admin = TestCall.byPrincipal("admin");
        request.caller(admin);
        assertThat(request.bypasses(call -> checked.add(call))).isTrue();
        request.caller(ALICE);
        assertThat(request.bypasses(call -> !checked.add(call)))
                .as("a bypass holds for the request")
                .isTrue();
        assertThat(checked).containsExactly(ALICE, admin);
    }

    @Test
    void recordsABypassOfTheSamePoliciesOnce() {
        assertThat(request.bypass(binding(1, A))).as("limited").isFalse();
        request.bypasses(call -> true);
        assertThat(request.bypass(binding(1, A))).isTrue();
        assertThat(request.bypass(binding(1, A))).isFalse();
        assertThat(request.bypass(OTHER)).isTrue();
    }

    @Test
    void decidesEachPolicyEarlyOnce() {
        Binding first = request.decideEarly(binding(1, A));
        assertThat(first.policies()).extracting(each -> each.policy().name()).containsExactly("a");
        Binding second = request.decideEarly(binding("Search.other", 1, A, B));
        assertThat(second.endpoint()).isEqualTo("Search.other");
        assertThat(second.policies()).extracting(each -> each.policy().name()).containsExactly("b");
    }

    private static Policy disclosing(Policy.Mode mode) {
        Policy plain = policy("secret-" + mode, "principal");
        return plain.toBuilder()
                .mode(mode)
                .disclosure(Policy.Disclosure.MINIMAL)
                .build();
    }
}
