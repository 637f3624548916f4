// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static io.weir.ratelimit.core.local.Keys.FIVE_AN_HOUR;
import static io.weir.ratelimit.core.local.Keys.charge;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.spi.Charge;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class UnlockedAcquireTest {
    private final ManualTime time = new ManualTime();
    private final LocalBackend backend = new LocalBackend(100, time);

    private static int allowed(LocalBackend backend, List<Charge> charges, int calls) {
        int allowed = 0;
        for (int i = 0; i < calls; i++) {
            allowed += backend.acquire(charges).allowed() ? 1 : 0;
        }
        return allowed;
    }

    @Test
    void aRecurringChargeSpendsFromTheStateOfItsKey() {
        List<Charge> recurring = List.of(charge(FIVE_AN_HOUR, "ann"));
        assertThat(allowed(backend, recurring, 2)).isEqualTo(2);
        assertThat(allowed(backend, List.of(charge(FIVE_AN_HOUR, "ann")), 2)).isEqualTo(2);
        assertThat(allowed(backend, recurring, 2)).isEqualTo(1);
    }

    @Test
    void aRecurringChargeFindsItsKeyAgainAfterTheStateWasRemoved() {
        List<Charge> recurring = List.of(charge(FIVE_AN_HOUR, "ann"));
        assertThat(allowed(backend, recurring, 3)).isEqualTo(3);
        backend.reset(List.of(FIVE_AN_HOUR), "ann");
        assertThat(backend.size()).isZero();
        assertThat(allowed(backend, List.of(charge(FIVE_AN_HOUR, "ann")), 4)).isEqualTo(4);
        assertThat(allowed(backend, recurring, 4)).isEqualTo(1);
    }

    @Test
    void eachBackendHasItsOwnStateOfARecurringCharge() {
        List<Charge> recurring = List.of(charge(FIVE_AN_HOUR, "ann"));
        assertThat(allowed(backend, recurring, 9)).isEqualTo(5);
        assertThat(allowed(new LocalBackend(100, time), recurring, 9)).isEqualTo(5);
        assertThat(allowed(backend, recurring, 9)).isZero();
    }

    @Test
    void aRefundReturnsThePermitsOfARecurringCharge() {
        List<Charge> recurring = List.of(charge(FIVE_AN_HOUR, "ann"));
        assertThat(allowed(backend, recurring, 4)).isEqualTo(4);
        Decision.Allowed last = (Decision.Allowed) backend.acquire(recurring);
        assertThat(backend.acquire(recurring).allowed()).isFalse();
        backend.refund(last.receipt()).toCompletableFuture().join();
        backend.refund(last.receipt()).toCompletableFuture().join();
        assertThat(allowed(backend, recurring, 4)).isEqualTo(1);
    }

    @Test
    void theInstantOfADecisionIsThatOfTheClockOfTheProcess() {
        LocalBackend real = new LocalBackend(100);
        List<Charge> charges = List.of(charge(FIVE_AN_HOUR, "ann"));
        real.acquire(charges);
        long before = System.nanoTime();
        ChargedResults results = (ChargedResults) real.acquire(charges).results();
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
        List<Charge> recurring = List.of(charge(shared, "ann"));
        List<Charge> both = List.of(charge(shared, "ann"), charge(other, "ann"));
        AtomicInteger spent = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (int thread = 0; thread < 8; thread++) {
                boolean single = thread % 2 == 0;
                ends.add(threads.submit(() -> {
                    for (int i = 0; i < 10_000; i++) {
                        Decision decision = backend.acquire(single ? recurring : both);
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
        int left = allowed(backend, recurring, permits + 1);
        assertThat(spent.get() + left).isEqualTo(permits);
    }
}
