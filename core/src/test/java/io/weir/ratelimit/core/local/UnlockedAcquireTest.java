// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static io.weir.ratelimit.core.local.Keys.FIVE_AN_HOUR;
import static io.weir.ratelimit.core.local.Keys.acquire;
import static io.weir.ratelimit.core.local.Keys.charge;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class UnlockedAcquireTest {
    private static final long HOUR_MICROS = 3_600_000_000L;

    private final ManualTime time = new ManualTime();
    private final LocalBackend backend = new LocalBackend(100, time);

    private static int allowed(Supplier<Decision> acquire, int calls) {
        int allowed = 0;
        for (int i = 0; i < calls; i++) {
            allowed += acquire.get().allowed() ? 1 : 0;
        }
        return allowed;
    }

    private static Supplier<Decision> recurring(LocalBackend backend) {
        return backend.acquireOf(List.of(charge(FIVE_AN_HOUR, "ann")));
    }

    private Supplier<Decision> other() {
        return () -> acquire(backend, FIVE_AN_HOUR, "ann");
    }

    @Test
    void aRecurringAcquireSpendsFromTheStateOfItsKey() {
        Supplier<Decision> recurring = recurring(backend);
        assertThat(allowed(recurring, 2)).isEqualTo(2);
        assertThat(allowed(other(), 2)).isEqualTo(2);
        assertThat(allowed(recurring, 2)).isEqualTo(1);
    }

    @Test
    void aRecurringAcquireFindsItsKeyAgainAfterTheStateWasRemoved() {
        Supplier<Decision> recurring = recurring(backend);
        assertThat(allowed(recurring, 3)).isEqualTo(3);
        backend.reset(List.of(FIVE_AN_HOUR), "ann");
        assertThat(backend.size()).isZero();
        assertThat(allowed(other(), 4)).isEqualTo(4);
        assertThat(allowed(recurring, 4)).isEqualTo(1);
        assertThat(allowed(other(), 4)).isZero();
    }

    @Test
    void aRecurringAcquireFindsAKeyThatAFullTableHasDropped() {
        LocalBackend small = new LocalBackend(1, time);
        Supplier<Decision> recurring = recurring(small);
        assertThat(allowed(recurring, 3)).isEqualTo(3);
        time.advanceMicros(HOUR_MICROS);
        assertThat(acquire(small, FIVE_AN_HOUR, "bob").allowed()).isTrue();
        time.advanceMicros(HOUR_MICROS);
        assertThat(allowed(recurring, 9)).isEqualTo(5);
        assertThat(small.size()).isEqualTo(1);
        assertThat(acquire(small, FIVE_AN_HOUR, "ann").allowed()).isFalse();
    }

    @Test
    void aRecurringAcquireOfABlockedKeyIsRejected() {
        Supplier<Decision> recurring = recurring(backend);
        assertThat(allowed(recurring, 2)).isEqualTo(2);
        backend.block(FIVE_AN_HOUR, "ann", Duration.ofMinutes(1))
                .toCompletableFuture()
                .join();
        assertThat(allowed(recurring, 2)).isZero();
        backend.unblock(FIVE_AN_HOUR, "ann").toCompletableFuture().join();
        assertThat(allowed(recurring, 9)).isEqualTo(3);
    }

    @Test
    void anAcquireWithAnotherLimitCountsForARecurringOne() {
        Supplier<Decision> recurring = recurring(backend);
        assertThat(allowed(recurring, 2)).isEqualTo(2);
        PolicyLimits lowered = Keys.policy("api", 3, Duration.ofHours(1));
        assertThat(allowed(() -> acquire(backend, lowered, "ann"), 9)).isEqualTo(1);
        assertThat(allowed(recurring, 9)).isEqualTo(2);
    }

    @Test
    void aRecurringAcquireOfTwoLimitsSpendsBoth() {
        PolicyLimits both = new PolicyLimits(
                "both",
                List.of(
                        Limit.of(Algorithm.FIXED_WINDOW, 3, Duration.ofMinutes(1)),
                        Limit.of(Algorithm.FIXED_WINDOW, 4, Duration.ofHours(1))));
        Supplier<Decision> recurring = backend.acquireOf(List.of(charge(both, "ann")));
        assertThat(allowed(recurring, 9)).isEqualTo(3);
        time.advanceMicros(HOUR_MICROS / 60);
        assertThat(allowed(recurring, 9)).isEqualTo(1);
    }

    @Test
    void aRefundReturnsThePermitsOfARecurringAcquire() {
        Supplier<Decision> recurring = recurring(backend);
        assertThat(allowed(recurring, 4)).isEqualTo(4);
        Decision.Allowed last = (Decision.Allowed) recurring.get();
        assertThat(recurring.get().allowed()).isFalse();
        backend.refund(last.receipt()).toCompletableFuture().join();
        backend.refund(last.receipt()).toCompletableFuture().join();
        assertThat(allowed(recurring, 4)).isEqualTo(1);
    }

    @Test
    void theInstantOfADecisionIsThatOfTheClockOfTheProcess() {
        LocalBackend real = new LocalBackend(100);
        Supplier<Decision> recurring = recurring(real);
        assertThat(recurring.get().allowed()).isTrue();
        long before = System.nanoTime();
        ChargedResults results = (ChargedResults) recurring.get().results();
        long after = System.nanoTime();
        assertThat(real.atNanos(results)).isBetween(before - 1_000, after);
    }

    /** Calls without a lock, calls with two limits of which one is the same, refunds and peeks must not lose or add a permit. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void callsWithAndWithoutALockSpendEachPermitOnce() throws Exception {
        int permits = 30_000;
        PolicyLimits shared = Keys.policy("shared", permits, Duration.ofHours(1));
        PolicyLimits other = Keys.policy("other", 1_000_000, Duration.ofHours(1));
        Supplier<Decision> recurring = backend.acquireOf(List.of(charge(shared, "ann")));
        List<Charge> both = List.of(charge(shared, "ann"), charge(other, "ann"));
        AtomicInteger spent = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (int thread = 0; thread < 8; thread++) {
                boolean single = thread % 2 == 0;
                ends.add(threads.submit(() -> {
                    for (int i = 0; i < 10_000; i++) {
                        Decision decision = single ? recurring.get() : backend.acquire(both);
                        spent.addAndGet(decision.allowed() ? 1 : 0);
                        if (i % 10 == 0 && decision instanceof Decision.Allowed allowed) {
                            spent.decrementAndGet();
                            backend.refund(allowed.receipt())
                                    .toCompletableFuture()
                                    .join();
                            backend.peek(List.of(charge(shared, "ann")));
                        }
                    }
                }));
            }
            for (Future<?> end : ends) {
                end.get(60, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        int left = allowed(recurring, permits + 1);
        assertThat(spent.get() + left).isEqualTo(permits);
    }
}
