// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ChargeLedgerTest {
    private static final long LONG = TimeUnit.SECONDS.toNanos(30);
    private static final Policy A = policy("a", "principal");
    private static final Policy B = policy("b", "principal");
    private static final String FIRST = "Orders.create";
    private static final String SECOND = "Orders.list";

    private final ChargeLedger ledger = new ChargeLedger();
    private final AtomicReference<Thread> other = new AtomicReference<>();

    @AfterEach
    void endOtherThread() throws InterruptedException {
        if (other.get() != null) {
            other.get().join(TimeUnit.SECONDS.toMillis(10));
        }
    }

    private static List<Charge> charges(Policy policy, long cost) {
        return List.of(new Charge(policy.limits(), "p.alice", cost));
    }

    private static Charge slotAnd(Limit... others) {
        List<Limit> limits = new ArrayList<>(List.of(others));
        limits.add(Limit.concurrency(1, Duration.ofMinutes(1)));
        return new Charge(new PolicyLimits("slow", limits), "p.alice", 1);
    }

    /** Reserves for the second method on another thread. */
    private CompletableFuture<List<Charge>> reserve(List<Charge> charges) {
        CompletableFuture<List<Charge>> reserved = new CompletableFuture<>();
        Thread thread = new Thread(() -> reserved.complete(ledger.reserve(SECOND, charges, LONG)));
        other.set(thread);
        thread.start();
        Await.until(
                "the other thread waits or has reserved",
                Duration.ofSeconds(10),
                () -> thread.getState() == Thread.State.TIMED_WAITING || reserved.isDone());
        return reserved;
    }

    /** Calls a method, which pays. Returns what was due. */
    private List<Charge> pay(String method, List<Charge> charges) {
        List<Charge> due = ledger.reserve(method, charges, 0);
        ledger.pay(method, charges, due);
        return due;
    }

    @Test
    void theFirstCallReservesAllOfItsCharges() {
        List<Charge> charges = charges(A, 3);
        assertThat(ledger.reserve(FIRST, charges, 0)).isSameAs(charges);
    }

    @Test
    void eachCallOfAMethodPays() {
        for (int i = 0; i < 3; i++) {
            List<Charge> charges = charges(A, 3);
            assertThat(pay(FIRST, charges)).isSameAs(charges);
        }
    }

    @Test
    void aMethodPaysWhatItsCallsCostMoreThanThoseOfAnotherMethod() {
        pay(FIRST, charges(A, 3));
        assertThat(pay(SECOND, charges(A, 2))).isEmpty();
        assertThat(pay(SECOND, charges(A, 2))).isEqualTo(charges(A, 1));
        assertThat(pay(SECOND, charges(A, 2))).isEqualTo(charges(A, 2));
        assertThat(pay(FIRST, charges(A, 3))).as("6 of 6 are paid").isEmpty();
        assertThat(pay(FIRST, charges(A, 3))).isEqualTo(charges(A, 3));
    }

    @Test
    void parallelCallsOfAMethodPayEachAndDoNotWait() {
        pay(SECOND, charges(A, 1));
        assertThat(ledger.reserve(FIRST, charges(A, 1), 0)).isEmpty();
        assertThat(ledger.reserve(FIRST, charges(A, 1), 0)).isEqualTo(charges(A, 1));
        assertThat(ledger.reserve(FIRST, charges(A, 1), 0)).isEqualTo(charges(A, 1));
    }

    @Test
    void aCallWaitsUntilTheSameKeyIsPaid() throws Exception {
        List<Charge> first = ledger.reserve(FIRST, charges(A, 3), 0);
        CompletableFuture<List<Charge>> second = reserve(charges(A, 3));
        assertThat(second).isNotDone();
        ledger.pay(FIRST, first, first);
        assertThat(second.get(10, TimeUnit.SECONDS)).isEmpty();
    }

    @Test
    void aCallThatWaitedPaysTheDifference() throws Exception {
        List<Charge> first = ledger.reserve(FIRST, charges(A, 3), 0);
        CompletableFuture<List<Charge>> second = reserve(charges(A, 10));
        ledger.pay(FIRST, first, first);
        assertThat(second.get(10, TimeUnit.SECONDS)).isEqualTo(charges(A, 7));
    }

    @Test
    void aCallThatWaitedReservesWhatARejectedCallReleased() throws Exception {
        List<Charge> first = ledger.reserve(FIRST, charges(A, 3), 0);
        CompletableFuture<List<Charge>> second = reserve(charges(A, 3));
        ledger.release(FIRST, first);
        assertThat(second.get(10, TimeUnit.SECONDS)).isEqualTo(charges(A, 3));
    }

    @Test
    void aCallWithOtherKeysDoesNotWait() {
        ledger.reserve(FIRST, charges(A, 3), 0);
        assertThat(ledger.reserve(SECOND, charges(B, 1), 0)).isEqualTo(charges(B, 1));
        assertThat(ledger.reserve(SECOND, List.of(new Charge(A.limits(), "p.bob", 1)), 0))
                .hasSize(1);
    }

    @Test
    void aCallWaitsNoLongerThanTheDeadlineAndThenReservesNothing() {
        List<Charge> first = ledger.reserve(FIRST, charges(A, 3), 0);
        assertThat(ledger.reserve(
                        SECOND, List.of(charges(B, 1).get(0), charges(A, 3).get(0)), 1_000))
                .isNull();
        assertThat(ledger.reserve(FIRST, charges(B, 1), 0)).isEqualTo(charges(B, 1));
        ledger.pay(FIRST, first, first);
        assertThat(ledger.reserve(SECOND, charges(A, 3), 0)).isEmpty();
    }

    @Test
    void aWaitKeepsTheInterruptFlag() {
        ledger.reserve(FIRST, charges(A, 3), 0);
        Thread.currentThread().interrupt();
        assertThat(ledger.reserve(SECOND, charges(A, 3), 1_000)).isNull();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aReopenedChargeBlocksOtherMethodsUntilItIsPaidAgain() throws Exception {
        List<Charge> first = pay(FIRST, charges(A, 3));
        ledger.reopen(FIRST, first, first);
        CompletableFuture<List<Charge>> second = reserve(charges(A, 3));
        assertThat(second).isNotDone();
        ledger.pay(FIRST, first, first);
        assertThat(second.get(10, TimeUnit.SECONDS)).isEmpty();
    }

    @Test
    void aReopenedChargeOfOneCallLeavesTheReservationOfAnother() {
        List<Charge> first = pay(FIRST, charges(A, 3));
        List<Charge> second = ledger.reserve(SECOND, charges(A, 10), 0);
        ledger.reopen(FIRST, first, first);
        ledger.release(FIRST, first);
        assertThat(ledger.reserve(FIRST, charges(A, 3), 1_000))
                .as("the second call has not ended")
                .isNull();
        ledger.pay(SECOND, charges(A, 10), second);
        assertThat(ledger.reserve(FIRST, charges(A, 10), 0)).isEqualTo(charges(A, 3));
    }

    @Test
    void aRefundedChargeIsDueAgain() {
        pay(FIRST, charges(A, 3));
        ledger.refund(FIRST, List.of(), List.of());
        assertThat(pay(SECOND, charges(A, 3))).isEmpty();
        ledger.refund(FIRST, charges(A, 3), charges(A, 3));
        assertThat(ledger.reserve(FIRST, charges(A, 3), 0)).isEqualTo(charges(A, 3));
    }

    @Test
    void aRefundDoesNotLetTheMethodUseWhatAnotherMethodHasPaidTwice() {
        pay(FIRST, charges(A, 1));
        assertThat(pay(SECOND, charges(A, 1))).isEmpty();
        for (int i = 0; i < 3; i++) {
            assertThat(pay(SECOND, charges(A, 1))).isEqualTo(charges(A, 1));
            ledger.refund(SECOND, charges(A, 1), charges(A, 1));
        }
    }

    @Test
    void aRefundedCallThatHasSharedAChargePaysTheSamePartAgain() {
        pay(FIRST, charges(A, 10));
        for (int i = 0; i < 3; i++) {
            List<Charge> due = pay(SECOND, charges(A, 30));
            assertThat(due).isEqualTo(charges(A, 20));
            ledger.refund(SECOND, charges(A, 30), due);
        }
    }

    @Test
    void aRequestTakesOneSlotOfAKey() {
        Charge both = slotAnd(Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofMinutes(1)));
        pay(FIRST, List.of(both));
        assertThat(ledger.needsSlot(both)).isFalse();
        for (String method : List.of(SECOND, FIRST, SECOND)) {
            assertThat(pay(method, List.of(both))).noneMatch(due -> due.policy().hasConcurrency());
        }
        assertThat(pay(FIRST, List.of(slotAnd()))).as("no other limit").isEmpty();
    }

    @Test
    void aCallWithoutASlotPaysInFull() {
        Charge both = slotAnd(Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofMinutes(1)));
        pay(FIRST, List.of(both));
        ledger.releaseSlots(List.of(both));
        assertThat(ledger.needsSlot(both)).isTrue();
        assertThat(pay(SECOND, List.of(both))).containsExactly(both);
    }

    @Test
    void aCallWaitsForTheSlotOfAnEarlierCallOfTheSameMethod() {
        Charge both = slotAnd(Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofMinutes(1)));
        List<Charge> first = ledger.reserve(FIRST, List.of(both), 0);
        assertThat(ledger.reserve(FIRST, List.of(both), 1_000)).isNull();
        ledger.pay(FIRST, first, first);
        assertThat(ledger.reserve(FIRST, List.of(both), 0))
                .noneMatch(due -> due.policy().hasConcurrency());
    }
}
