// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
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

    /** Reserves on another thread. */
    private CompletableFuture<List<Charge>> reserve(List<Charge> charges) {
        CompletableFuture<List<Charge>> reserved = new CompletableFuture<>();
        Thread thread = new Thread(() -> reserved.complete(ledger.reserve(charges, LONG)));
        other.set(thread);
        thread.start();
        Await.until(
                "the other thread waits or has reserved",
                Duration.ofSeconds(10),
                () -> thread.getState() == Thread.State.TIMED_WAITING || reserved.isDone());
        return reserved;
    }

    @Test
    void theFirstCallReservesAllOfItsCharges() {
        List<Charge> charges = charges(A, 3);
        assertThat(ledger.reserve(charges, 0)).isSameAs(charges);
    }

    @Test
    void aCallWaitsUntilTheSameKeyIsPaid() throws Exception {
        List<Charge> first = ledger.reserve(charges(A, 3), 0);
        CompletableFuture<List<Charge>> second = reserve(charges(A, 3));
        assertThat(second).isNotDone();
        ledger.pay(binding(3, A), first);
        assertThat(second.get(10, TimeUnit.SECONDS)).isEmpty();
    }

    @Test
    void aCallThatWaitedPaysTheDifference() throws Exception {
        List<Charge> first = ledger.reserve(charges(A, 3), 0);
        CompletableFuture<List<Charge>> second = reserve(charges(A, 10));
        ledger.pay(binding(3, A), first);
        assertThat(second.get(10, TimeUnit.SECONDS)).isEqualTo(charges(A, 7));
    }

    @Test
    void aCallThatWaitedReservesWhatARejectedCallReleased() throws Exception {
        List<Charge> first = ledger.reserve(charges(A, 3), 0);
        CompletableFuture<List<Charge>> second = reserve(charges(A, 3));
        ledger.release(first);
        assertThat(second.get(10, TimeUnit.SECONDS)).isEqualTo(charges(A, 3));
    }

    @Test
    void aCallWithOtherKeysDoesNotWait() {
        ledger.reserve(charges(A, 3), 0);
        assertThat(ledger.reserve(charges(B, 1), 0)).isEqualTo(charges(B, 1));
        assertThat(ledger.reserve(List.of(new Charge(A.limits(), "p.bob", 1)), 0))
                .hasSize(1);
    }

    @Test
    void aCallWaitsNoLongerThanTheDeadlineAndThenReservesNothing() {
        List<Charge> first = ledger.reserve(charges(A, 3), 0);
        assertThat(ledger.reserve(List.of(charges(B, 1).get(0), charges(A, 3).get(0)), 1_000))
                .isNull();
        assertThat(ledger.reserve(charges(B, 1), 0)).isEqualTo(charges(B, 1));
        ledger.pay(binding(3, A), first);
        assertThat(ledger.reserve(charges(A, 3), 0)).isEmpty();
    }

    @Test
    void aWaitKeepsTheInterruptFlag() {
        ledger.reserve(charges(A, 3), 0);
        Thread.currentThread().interrupt();
        assertThat(ledger.reserve(charges(A, 3), 1_000)).isNull();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aReopenedChargeBlocksOtherCallsUntilItIsPaidAgain() throws Exception {
        Binding binding = binding(3, A);
        List<Charge> first = ledger.reserve(charges(A, 3), 0);
        ledger.pay(binding, first);
        ledger.reopen(binding, first);
        assertThat(ledger.covers(binding)).isFalse();
        CompletableFuture<List<Charge>> second = reserve(charges(A, 3));
        assertThat(second).isNotDone();
        ledger.pay(binding, first);
        assertThat(second.get(10, TimeUnit.SECONDS)).isEmpty();
    }

    @Test
    void aReopenedChargeOfOneCallLeavesTheReservationOfAnother() {
        Binding binding = binding(3, A);
        List<Charge> first = ledger.reserve(charges(A, 3), 0);
        ledger.pay(binding, first);
        List<Charge> second = ledger.reserve(charges(A, 10), 0);
        ledger.reopen(binding, first);
        ledger.release(first);
        assertThat(ledger.reserve(charges(A, 3), 1_000))
                .as("the second call has not ended")
                .isNull();
        ledger.pay(binding(10, A), second);
        assertThat(ledger.reserve(charges(A, 10), 0)).isEqualTo(charges(A, 3));
    }

    @Test
    void aRefundedChargeIsDueAgain() {
        Binding binding = binding(3, A);
        ledger.pay(binding, ledger.reserve(charges(A, 3), 0));
        assertThat(ledger.covers(binding)).isTrue();
        ledger.refund(List.of());
        assertThat(ledger.covers(binding)).isTrue();
        ledger.refund(charges(A, 3));
        assertThat(ledger.covers(binding)).isFalse();
        assertThat(ledger.reserve(charges(A, 3), 0)).isEqualTo(charges(A, 3));
    }
}
