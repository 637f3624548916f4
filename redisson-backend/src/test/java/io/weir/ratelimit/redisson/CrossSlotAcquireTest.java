// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The two phases of a decision over several slots, with requests that the test completes one by one. */
class CrossSlotAcquireTest {
    private static final long NOW = ManualSteps.NOW;
    private static final Duration HOUR = Duration.ofHours(1);
    private static final BackendException CANCELLED = new BackendException(Reason.TIMEOUT, "cancelled", null);

    /** Steps that fail in the middle of a decision. */
    private static final class FaultySteps extends ManualSteps {
        private final String faultyKey;
        private final boolean faultyCache;

        FaultySteps(String faultyKey, boolean faultyCache) {
            this.faultyKey = faultyKey;
            this.faultyCache = faultyCache;
        }

        @Override
        public void send(AcquireRequest request) {
            if (request.operation == Operation.SPEND
                    && request.charges.get(0).storedKey().equals(faultyKey)) {
                throw new IllegalStateException("a fault");
            }
            super.send(request);
        }

        @Override
        public void cacheRejected(AcquireRequest request) {
            if (faultyCache) {
                throw new IllegalStateException("a fault");
            }
            super.cacheRejected(request);
        }
    }

    private ManualSteps steps = new ManualSteps();

    private final Charge a1 = charge("a1", "A", 10);
    private final Charge a2 = charge("a2", "A", 12);
    private final Charge b1 = charge("b1", "B", 5);
    private final Charge c1 = charge("c1", "C", 20);

    private static Charge charge(String policy, String storedKey, long permits) {
        return new Charge(
                new PolicyLimits(policy, List.of(Limit.of(Algorithm.FIXED_WINDOW, permits, HOUR))), storedKey, 1);
    }

    private CrossSlotAcquire acquire(Charge... charges) {
        return within(Duration.ofMinutes(5), charges);
    }

    private CrossSlotAcquire within(Duration time, Charge... charges) {
        return new CrossSlotAcquire(
                List.of(charges), charge -> charge.storedKey().charAt(0), steps, steps.nanos + time.toNanos());
    }

    private static BackendException failure(CompletableFuture<Decision> decision) {
        assertThat(decision).isCompletedExceptionally();
        try {
            throw new AssertionError("decided " + decision.join());
        } catch (CompletionException e) {
            return (BackendException) e.getCause();
        }
    }

    private static Decision decided(CompletableFuture<Decision> decision) {
        assertThat(decision).isCompleted();
        return decision.join();
    }

    private static List<String> policies(Decision decision) {
        return decision.quotas().stream().map(Quota::policy).toList();
    }

    private static List<Long> remaining(Decision decision) {
        return decision.quotas().stream().map(Quota::remaining).toList();
    }

    @Test
    void peeksAtAllSlotsInParallelWithOneRequestEach() {
        CompletableFuture<Decision> decision = acquire(a1, b1, a2, c1).start().completion();
        assertThat(steps.sent)
                .extracting(request -> request.charges)
                .containsExactly(List.of(a1, a2), List.of(b1), List.of(c1));
        assertThat(steps.sent).noneMatch(request -> request.operation == Operation.SPEND);
        assertThat(decision).isNotDone();
    }

    @Test
    void spendsTheSlotWithTheLeastRoomFirstAndThenTheOthersInParallel() {
        CompletableFuture<Decision> decision = acquire(a1, b1, a2, c1).start().completion();
        steps.complete("C", 17);
        steps.complete("A", 0);
        assertThat(steps.spending()).as("before all slots have replied").isEmpty();
        steps.complete("B", 1);
        assertThat(steps.spending()).containsExactly("C");
        steps.complete("C", 17);
        assertThat(steps.spending()).containsExactly("C", "B", "A");
        steps.complete("A", 0);
        assertThat(decision).isNotDone();
        steps.complete("B", 1);
        Decision.Allowed allowed = (Decision.Allowed) decided(decision);
        assertThat(policies(allowed)).containsExactly("a1", "b1", "a2", "c1");
        assertThat(remaining(allowed)).containsExactly(9L, 3L, 11L, 2L);
        assertThat(((BackendReceipt) allowed.receipt()).charges()).containsExactly(a1, b1, a2, c1);
        assertThat(((BackendReceipt) allowed.receipt()).claim())
                .allSatisfy(entry -> assertThat(entry.states()
                                .get(0)
                                .remaining(entry.charge().policy().limits().get(0), NOW))
                        .as(entry.toString())
                        .isEqualTo(allowed.quotas().stream()
                                .filter(quota -> quota.policy()
                                        .equals(entry.charge().policy().policy()))
                                .findFirst()
                                .orElseThrow()
                                .remaining()));
        assertThat(steps.refunded).isEmpty();
    }

    @Test
    void measuresRoomInCallsNotInPermits() {
        Charge expensive = new Charge(a1.policy(), "A", 6);
        acquire(expensive, b1).start();
        steps.complete("A", 0);
        steps.complete("B", 2);
        assertThat(steps.spending())
                .as("10 permits for 6 are less than 3 for 1")
                .containsExactly("A");
    }

    @Test
    void cachesASlotWithoutRoomIfAnotherFails() {
        CompletableFuture<Decision> decision = acquire(a1, b1, c1).start().completion();
        steps.complete("A", 10);
        steps.complete("C", 1);
        steps.last("B").completeExceptionally(new BackendException(Reason.CONNECTION, "a fault", null));
        assertThat(failure(decision).reason()).isEqualTo(Reason.CONNECTION);
        assertThat(steps.cachedRejected).extracting(request -> request.charges).containsExactly(List.of(a1));
    }

    @Test
    void cachesASlotWithoutRoomIfAnotherDoesNotReplyBeforeTheDeadline() {
        CrossSlotAcquire call = acquire(a1, b1).start();
        steps.complete("A", 10);
        call.cancel(new BackendException(Reason.TIMEOUT, "too late", null));
        assertThat(failure(call.completion()).reason()).isEqualTo(Reason.TIMEOUT);
        assertThat(steps.cachedRejected).extracting(request -> request.charges).containsExactly(List.of(a1));
    }

    @Test
    void rejectsTheCallAndSpendsNothingIfAPeekFindsNoRoom() {
        CompletableFuture<Decision> decision = acquire(a1, b1, a2, c1).start().completion();
        steps.complete("A", 10);
        steps.complete("C", 20);
        assertThat(decision).as("while B is not known").isNotDone();
        steps.complete("B", 1);
        Decision.Rejected rejected = (Decision.Rejected) decided(decision);
        assertThat(policies(rejected)).containsExactly("a1", "b1", "a2", "c1");
        assertThat(remaining(rejected)).containsExactly(0L, 4L, 2L, 0L);
        assertThat(rejected.violatedPolicies()).containsExactly("a1", "c1");
        assertThat(steps.spending()).isEmpty();
        assertThat(steps.refunded).isEmpty();
        assertThat(steps.cachedRejected)
                .extracting(request -> request.charges.get(0).storedKey())
                .containsExactly("A", "B", "C");
    }

    @Test
    void reportsTheLongestRetryAfterOfAllSlots() {
        Charge short1 = new Charge(
                new PolicyLimits("short", List.of(Limit.of(Algorithm.FIXED_WINDOW, 1, Duration.ofSeconds(2)))), "A", 1);
        CompletableFuture<Decision> decision = acquire(short1, b1).start().completion();
        steps.complete("A", 1);
        steps.complete("B", 5);
        assertThat(((Decision.Rejected) decided(decision)).retryAfter()).hasValue(HOUR);
    }

    @Test
    void rejectsTheCallWithoutRefundIfTheFirstSlotLostARace() {
        CompletableFuture<Decision> decision = acquire(a1, b1).start().completion();
        steps.complete("A", 0);
        steps.complete("B", 4);
        steps.complete("B", 5);
        Decision.Rejected rejected = (Decision.Rejected) decided(decision);
        assertThat(rejected.violatedPolicies()).containsExactly("b1");
        assertThat(remaining(rejected)).containsExactly(10L, 0L);
        assertThat(steps.spending()).containsExactly("B");
        assertThat(steps.refunded).isEmpty();
    }

    @Test
    void refundsSpentSlotsIfAnotherSlotLostARaceAndReportsTheirPeekedQuotas() {
        CompletableFuture<Decision> decision = acquire(a1, b1, c1).start().completion();
        steps.complete("A", 7);
        steps.complete("B", 4);
        steps.complete("C", 3);
        steps.complete("B", 4);
        steps.complete("A", 10);
        assertThat(steps.refunded).as("while C is not known").isEmpty();
        steps.complete("C", 5);
        Decision.Rejected rejected = (Decision.Rejected) decided(decision);
        assertThat(rejected.violatedPolicies()).containsExactly("a1");
        assertThat(remaining(rejected)).containsExactly(0L, 1L, 17L);
        assertThat(steps.refunded).containsExactlyInAnyOrder(b1, c1);
    }

    @Test
    void sendsRefundsBeforeTheRejectionCompletes() {
        CompletableFuture<Decision> decision = acquire(a1, b1).start().completion();
        CompletableFuture<List<Charge>> seen = decision.thenApply(rejected -> List.copyOf(steps.refunded));
        steps.complete("A", 0);
        steps.complete("B", 4);
        steps.complete("B", 4);
        steps.complete("A", 10);
        assertThat(seen).isCompletedWithValue(List.of(b1));
    }

    @Test
    void aFailedPeekFailsTheCallAndSpendsNothing() {
        CompletableFuture<Decision> decision = acquire(a1, b1).start().completion();
        steps.fail("A");
        steps.complete("B", 0);
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
        assertThat(steps.spending()).isEmpty();
    }

    @Test
    void aFailedSpendFailsTheCallAndRefundsTheOtherSlots() {
        CompletableFuture<Decision> decision = acquire(a1, b1, c1).start().completion();
        steps.complete("A", 0);
        steps.complete("B", 0);
        steps.complete("C", 0);
        steps.complete("B", 0);
        steps.fail("A");
        assertThat(steps.refunded).as("while C is not known").isEmpty();
        steps.complete("C", 0);
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
        assertThat(steps.refunded).containsExactlyInAnyOrder(b1, c1);
    }

    @Test
    void aFailedFirstSpendEndsTheCallBeforeTheOtherSlotsAreSpent() {
        CompletableFuture<Decision> decision = acquire(a1, b1).start().completion();
        steps.complete("A", 0);
        steps.complete("B", 0);
        steps.fail("B");
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
        assertThat(steps.spending()).containsExactly("B");
        assertThat(steps.refunded).isEmpty();
    }

    @Test
    void cancelDuringThePeekSpendsNothing() {
        CrossSlotAcquire call = acquire(a1, b1);
        CompletableFuture<Decision> decision = call.start().completion();
        steps.complete("A", 0);
        call.cancel(CANCELLED);
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
        assertThat(steps.cancelled).containsExactly(steps.last("B"));
        steps.complete("B", 0);
        assertThat(steps.spending()).isEmpty();
        assertThat(steps.refunded).isEmpty();
    }

    @Test
    void cancelDuringTheFirstSpendRefundsItOnceAndSpendsNoOtherSlot() {
        CrossSlotAcquire call = acquire(a1, b1);
        call.start();
        steps.complete("A", 0);
        steps.complete("B", 0);
        call.cancel(CANCELLED);
        call.cancel(CANCELLED);
        assertThat(steps.refunded).isEmpty();
        steps.complete("B", 0);
        assertThat(steps.spending()).containsExactly("B");
        assertThat(steps.refunded).containsExactly(b1);
    }

    @Test
    void cancelDuringTheOtherSpendsRefundsEachSlotOnce() {
        CrossSlotAcquire call = acquire(a1, b1, c1);
        CompletableFuture<Decision> decision = call.start().completion();
        steps.complete("A", 0);
        steps.complete("B", 0);
        steps.complete("C", 0);
        steps.complete("B", 0);
        steps.complete("A", 0);
        call.cancel(CANCELLED);
        assertThat(steps.cancelled).containsExactly(steps.last("C"));
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
        steps.complete("C", 0);
        assertThat(steps.refunded).containsExactlyInAnyOrder(a1, b1, c1);
    }

    @Test
    void spendsNothingAfterTheDeadline() {
        CompletableFuture<Decision> decision =
                within(Duration.ZERO, a1, b1).start().completion();
        steps.complete("A", 0);
        steps.complete("B", 0);
        assertThat(steps.spending()).isEmpty();
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
    }

    @Test
    void refundsAFirstSlotThatWasSpentJustBeforeTheDeadline() {
        Duration soon = Duration.ofSeconds(2);
        CompletableFuture<Decision> decision = within(soon, a1, b1).start().completion();
        steps.complete("A", 0);
        steps.complete("B", 0);
        assertThat(steps.spending()).containsExactly("B");
        steps.nanos += soon.toNanos();
        steps.complete("B", 0);
        assertThat(steps.spending()).containsExactly("B");
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
        assertThat(steps.refunded).containsExactly(b1);
    }

    @Test
    void anAllowedCallWaitsAsLongAsItsSlowestSlot() {
        Charge slow = waiting("slow", "A", 1);
        Charge fast = waiting("fast", "B", 10);
        CompletableFuture<Decision> decision = acquire(slow, fast).start().completion();
        steps.complete("A", 1);
        steps.complete("B", 10);
        steps.complete("A", 1);
        steps.complete("B", 10);
        assertThat(((Decision.Allowed) decided(decision)).waitMicros()).isEqualTo(TimeUnit.SECONDS.toMicros(1));
    }

    private static Charge waiting(String policy, String storedKey, long permits) {
        Limit limit =
                Limit.of(Algorithm.TOKEN_BUCKET, permits, Duration.ofSeconds(1)).withMaxWait(Duration.ofSeconds(5));
        return new Charge(new PolicyLimits(policy, List.of(limit)), storedKey, 1, TimeUnit.SECONDS.toMicros(5));
    }

    @Test
    void aFaultWhileSendingFailsTheCallAndRefundsSpentSlots() {
        steps = new FaultySteps("A", false);
        CompletableFuture<Decision> decision = acquire(a1, b1, c1).start().completion();
        steps.complete("A", 0);
        steps.complete("B", 0);
        steps.complete("C", 0);
        steps.complete("B", 0);
        steps.complete("C", 0);
        assertThat(failure(decision)).hasRootCauseMessage("a fault");
        assertThat(steps.refunded).containsExactlyInAnyOrder(b1, c1);
    }

    @Test
    void aFaultWhileCachingARejectionFailsTheCall() {
        steps = new FaultySteps("", true);
        CompletableFuture<Decision> decision = acquire(a1, b1).start().completion();
        steps.complete("A", 10);
        steps.complete("B", 0);
        assertThat(failure(decision)).hasRootCauseMessage("a fault");
    }
}
