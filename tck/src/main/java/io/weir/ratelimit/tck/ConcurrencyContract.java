// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;

/** Calls of many threads at one instant never exceed a limit, lose no permit, and never deadlock. */
interface ConcurrencyContract extends ContractFixture {
    int THREADS = 64;

    @EachAlgorithm
    default void manyThreadsSpendExactlyTheLimitOfAKey(Algorithm algorithm) throws Exception {
        Limit limit = limitOf(algorithm, 500, Duration.ofHours(1));
        TestKey key = key();
        LongAdder allowed = new LongAdder();
        together(thread -> () -> {
            for (int call = 0; call < 12; call++) {
                if (key.acquire(limit, 1).allowed()) {
                    allowed.increment();
                }
            }
            return null;
        });
        assertThat(allowed.sum()).isEqualTo(500);
        assertThat(key.remaining(limit)).isZero();
    }

    @EachAlgorithm
    default void overlappingCallsNeitherDeadlockNorSpendPartially(Algorithm algorithm) throws Exception {
        Limit limit = limitOf(algorithm, 100, Duration.ofHours(1));
        List<TestKey> keys = List.of(key(), key(), key());
        ConcurrentHashMap<TestKey, LongAdder> spent = new ConcurrentHashMap<>();
        together(thread -> () -> {
            int pair = thread;
            for (int rejected = 0; rejected < 6; pair++) {
                TestKey first = keys.get(pair % 3);
                TestKey second = keys.get((pair + 1 + pair / 3 % 2) % 3);
                boolean allowed = backend()
                        .acquire(List.of(first.charge(1, limit), second.charge(2, limit)))
                        .allowed();
                rejected = allowed ? 0 : rejected + 1;
                if (allowed) {
                    spent.computeIfAbsent(first, any -> new LongAdder()).add(1);
                    spent.computeIfAbsent(second, any -> new LongAdder()).add(2);
                }
            }
            return null;
        });
        for (TestKey key : keys) {
            assertThat(key.remaining(limit))
                    .isEqualTo(100 - Objects.requireNonNull(spent.get(key)).sum());
        }
        assertThat(keys.stream().filter(key -> key.remaining(limit) >= 2)).hasSizeLessThanOrEqualTo(1);
    }

    @EachAlgorithm
    default void receiptRefundsOnceFromManyThreads(Algorithm algorithm) throws Exception {
        Limit limit = limitOf(algorithm, 500, Duration.ofHours(1));
        TestKey key = key();
        Receipt receipt = key.spend(limit, 3).receipt();
        key.spend(limit, 497);
        together(thread -> () -> {
            backend().refund(receipt);
            return null;
        });
        assertThat(key.remaining(limit)).isEqualTo(3);
    }

    private static void together(IntFunction<Callable<Void>> task) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try {
            CountDownLatch ready = new CountDownLatch(THREADS);
            List<Future<Void>> all = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                Callable<Void> mine = task.apply(thread);
                all.add(pool.submit(() -> {
                    ready.countDown();
                    ready.await();
                    return mine.call();
                }));
            }
            for (Future<Void> each : all) {
                each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            pool.shutdownNow();
        }
    }
}
