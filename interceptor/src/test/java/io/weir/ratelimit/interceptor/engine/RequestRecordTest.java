// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import static io.weir.ratelimit.interceptor.engine.Fixtures.binding;
import static io.weir.ratelimit.interceptor.engine.Fixtures.engine;
import static io.weir.ratelimit.interceptor.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.interceptor.key.Calls;
import io.weir.ratelimit.interceptor.local.LocalBackend;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RequestRecordTest {
    private static final Policy A = policy("a", "principal");
    private static final Policy B = policy("b", "principal");
    private static final Policy BY_ARGUMENT = policy("arg", "arg:x");
    private static final Calls ALICE = Calls.by("alice");

    private final LogCapture log = new LogCapture();
    private final FakeBackend backend = new FakeBackend();
    private final RateLimitEngine engine = engine(backend);
    private final RequestRecord request = new RequestRecord(ALICE);

    @AfterEach
    void closeLog() {
        log.close();
    }

    @Test
    void aRequestIsChargedOncePerPolicyAndKey() {
        engine.decide(binding(1, A), ALICE, request);
        Decision second = engine.decide(binding(1, A), ALICE, request);
        assertThat(backend.asked).containsExactly("a p.alice 1");
        assertThat(second.allowed()).isTrue();
        assertThat(request.receipts()).hasSize(1);
    }

    @Test
    void aDearerCallPaysTheDifferenceAndACheaperOneNothing() {
        engine.decide(binding(3, A), ALICE, request);
        engine.decide(binding(10, A), ALICE, request);
        engine.decide(binding(5, A), ALICE, request);
        engine.decide(binding(11, A), ALICE, request);
        assertThat(backend.asked).containsExactly("a p.alice 3", "a p.alice 7", "a p.alice 1");
    }

    /** Each decision waits for another to be under way beside it, which must not come. */
    @Test
    void callsOfOneRequestThatRunInParallelAreChargedOnceToo() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        CallContext meeting = new Watched(ALICE, () -> {
            both.countDown();
            try {
                both.await(300, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        RateLimitEngine parallel = engine(new LocalBackend(10));
        Thread other = new Thread(() -> parallel.decide(binding(1, A), meeting, request));
        other.start();
        assertThat(parallel.decide(binding(1, A), meeting, request).allowed()).isTrue();
        other.join();
        assertThat(request.receipts()).hasSize(1);
    }

    @Test
    void anArgumentWhoseTextFailsSharesTheKeyOfThoseWithoutOneAndIsSaidOnce() {
        Object hostile = new Object() {
            @Override
            public String toString() {
                throw new IllegalStateException("no text");
            }
        };
        engine.decide(binding(1, BY_ARGUMENT), ALICE.andArgument("x", hostile));
        engine.decide(binding(1, BY_ARGUMENT), ALICE.andArgument("x", hostile));
        assertThat(backend.asked).containsExactly("arg anon 1", "arg anon 1");
        assertThat(log.lines()).singleElement().asString().contains("WEIR-305", "arg");
    }

    @Test
    void theSecondEntryPointOfAMethodResolvesNoKeyAgain() {
        AtomicInteger resolved = new AtomicInteger();
        CallContext counting = new Watched(ALICE, resolved::incrementAndGet);
        Binding method = binding(1, A);
        engine.decide(method, counting, request);
        engine.decide(method, counting, request);
        assertThat(resolved).hasValue(1);
        assertThat(backend.asked).containsExactly("a p.alice 1");
    }

    private record Watched(CallContext call, Runnable asked) implements CallContext {
        @Override
        public Optional<String> peerAddress() {
            return call.peerAddress();
        }

        @Override
        public Optional<String> principal() {
            asked.run();
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
    void otherPoliciesAndOtherKeysAreCharged() {
        engine.decide(binding(1, A), ALICE, request);
        engine.decide(binding(1, A, B), ALICE, request);
        engine.decide(binding(1, A), Calls.by("bob"), request);
        engine.decide(binding(1, A), ALICE, new RequestRecord(ALICE));
        assertThat(backend.asked).containsExactly("a p.alice 1", "b p.alice 1", "a p.bob 1", "a p.alice 1");
    }

    @Test
    void outsideOfRequestsEachCallIsCharged() {
        engine.decide(binding(1, A), ALICE);
        engine.decide(binding(1, A), ALICE);
        assertThat(backend.asked).containsExactly("a p.alice 1", "a p.alice 1");
    }

    @Test
    void aRefusedCallIsNotChargedAndDecidedAgain() {
        backend.refuses = true;
        assertThat(engine.decide(binding(1, A), ALICE, request).allowed()).isFalse();
        backend.refuses = false;
        assertThat(engine.decide(binding(1, A), ALICE, request).allowed()).isTrue();
        assertThat(backend.asked).hasSize(2);
        assertThat(request.receipts()).hasSize(1);
    }

    @Test
    void aCallThatPassedWithoutTheStoreIsNotDecidedAgainAndHasNoReceipt() {
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        engine.decide(binding(1, A), ALICE, request);
        engine.decide(binding(1, A), ALICE, request);
        assertThat(backend.asked).hasSize(1);
        assertThat(request.receipts()).isEmpty();
        assertThat(request.last()).containsInstanceOf(Decision.Degraded.class);
        assertThat(request.quotas()).isEmpty();
    }

    @Test
    void aCallThatAClosedPolicyRefusedIsDecidedAgain() {
        Policy closed = policy("c", "principal", 1, FailureMode.CLOSED);
        backend.failure = FakeBackend.down(Reason.FULL);
        assertThat(engine.decide(binding(1, closed), ALICE, request).allowed()).isFalse();
        backend.failure = null;
        assertThat(engine.decide(binding(1, closed), ALICE, request).allowed()).isTrue();
        assertThat(request.last()).containsInstanceOf(Decision.Allowed.class);
    }

    @Test
    void everyDecisionThatSpentLeavesItsReceipt() {
        engine.decide(binding(1, A), ALICE, request);
        engine.decide(binding(2, A), ALICE, request);
        engine.decide(binding(1, B), ALICE, request);
        assertThat(request.receipts())
                .extracting(Receipt::toString)
                .containsExactly("receipt 1", "receipt 2", "receipt 3");
    }

    @Test
    void theLatestQuotaOfEachLimitIsKept() {
        engine.decide(binding(1, A, B), ALICE, request);
        engine.decide(binding(2, A), ALICE, request);
        assertThat(request.quotas()).extracting(Quota::name).containsExactly("b", "a");
        assertThat(request.quotas()).extracting(Quota::remaining).containsExactly(99L, 98L);
    }

    @Test
    void aDecisionThatIsLeftWaitsUntilItIsTaken() {
        Binding binding = binding(1, BY_ARGUMENT);
        assertThat(binding.needsArguments()).isTrue();
        assertThat(request.pending()).isEmpty();
        request.leave(binding);
        assertThat(request.pending()).contains(binding);
        engine.decide(binding(1, A), ALICE, request);
        assertThat(request.pending()).as("another method's decision").contains(binding);
        engine.decide(binding, ALICE.andArgument("x", "1"), request);
        assertThat(request.pending()).isEmpty();
        assertThat(backend.asked).containsExactly("a p.alice 1", "arg a.x.1 1");
    }

    @Test
    void aDecisionThatIsLeftIsTakenAlsoWhenItIsRefusedOrWasPaidBefore() {
        Binding binding = binding(1, BY_ARGUMENT);
        backend.refuses = true;
        request.leave(binding);
        engine.decide(binding, ALICE.andArgument("x", "1"), request);
        assertThat(request.pending()).isEmpty();
        backend.refuses = false;
        engine.decide(binding, ALICE.andArgument("x", "1"), request);
        request.leave(binding);
        engine.decide(binding, ALICE.andArgument("x", "1"), request);
        assertThat(request.pending()).isEmpty();
        assertThat(backend.asked).hasSize(2);
    }

    @Test
    void nothingIsKnownBeforeTheFirstDecision() {
        assertThat(request.call()).isSameAs(ALICE);
        assertThat(request.last()).isEmpty();
        assertThat(request.quotas()).isEmpty();
        assertThat(request.receipts()).isEmpty();
    }

    @Test
    void aMethodWithoutPoliciesIsNotLimited() {
        assertThat(engine.decide(Binding.NONE, ALICE, request)).isSameAs(Decision.Allowed.UNLIMITED);
        assertThat(Binding.NONE.needsArguments()).isFalse();
        assertThat(backend.asked).isEmpty();
    }

    @Test
    void theLastDecisionIsKnownWithItsCharges() {
        assertThat(request.lastEvent()).isEmpty();
        engine.decide(binding(3, A), ALICE, request);
        Decision last = engine.decide(binding(10, A), ALICE, request);
        assertThat(request.lastEvent()).hasValueSatisfying(event -> {
            assertThat(event.endpoint()).isEqualTo("Search.find");
            assertThat(event.charges()).extracting(Charge::cost).containsExactly(7L);
            assertThat(event.decision()).isEqualTo(last);
        });
    }

    @Test
    void onePolicyThatTellsNothingHidesTheQuotasOfTheRequest() {
        engine.decide(binding(1, A), ALICE, request);
        assertThat(request.hidesQuotas()).isFalse();
        engine.decide(binding(1, disclosing(Policy.Mode.SHADOW)), ALICE, request);
        assertThat(request.hidesQuotas()).as("shadow").isFalse();
        engine.decide(binding(1, disclosing(Policy.Mode.ENFORCE), A), ALICE, request);
        assertThat(request.hidesQuotas()).isTrue();
        engine.decide(binding(1, B), ALICE, request);
        assertThat(request.hidesQuotas()).isTrue();
    }

    private static Policy disclosing(Policy.Mode mode) {
        Policy plain = policy("secret-" + mode, "principal");
        return new Policy(
                plain.limits(),
                plain.tiers(),
                plain.key(),
                plain.cost(),
                plain.onFailure(),
                plain.maxWaiting(),
                mode,
                plain.count(),
                Policy.Disclosure.MINIMAL,
                plain.help(),
                plain.rule());
    }
}
