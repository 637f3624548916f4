// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Receipt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;

/** Many threads at one instant: a limit is never exceeded, no permit is lost, nobody waits for ever. */
interface ConcurrencyContract extends ContractFixture {
    int THREADS = 64;

    @EachAlgorithm
    default void manyThreadsOnOneKeyAdmitExactlyTheLimit(Algorithm algorithm) throws Exception {
        Limit limit = limitOf(algorithm, 500, Duration.ofHours(1));
        TestKey key = key();
        LongAdder admitted = new LongAdder();
        together(thread -> () -> {
            for (int call = 0; call < 12; call++) {
                if (key.acquire(limit, 1).allowed()) {
                    admitted.increment();
                }
            }
            return null;
        });
        assertThat(admitted.sum()).isEqualTo(500);
        assertThat(key.remaining(limit)).isZero();
    }

    @EachAlgorithm
    default void crossingChargesNeitherDeadlockNorSpendInPart(Algorithm algorithm) throws Exception {
        Limit limit = limitOf(algorithm, 100, Duration.ofHours(1));
        List<TestKey> keys = List.of(key(), key(), key());
        ConcurrentHashMap<TestKey, LongAdder> spent = new ConcurrentHashMap<>();
        together(thread -> () -> {
            int pair = thread;
            for (int refused = 0; refused < 6; pair++) {
                TestKey first = keys.get(pair % 3);
                TestKey second = keys.get((pair + 1 + pair / 3 % 2) % 3);
                boolean allowed = backend()
                        .acquire(List.of(first.charge(1, limit), second.charge(2, limit)))
                        .allowed();
                refused = allowed ? 0 : refused + 1;
                if (allowed) {
                    spent.computeIfAbsent(first, any -> new LongAdder()).add(1);
                    spent.computeIfAbsent(second, any -> new LongAdder()).add(2);
                }
            }
            return null;
        });
        for (TestKey key : keys) {
            assertThat(key.remaining(limit)).isEqualTo(100 - spent.get(key).sum());
        }
        assertThat(keys.stream().filter(key -> key.remaining(limit) >= 2)).hasSizeLessThanOrEqualTo(1);
    }

    @EachAlgorithm
    default void oneReceiptUsedByManyThreadsCountsOnce(Algorithm algorithm) throws Exception {
        Limit limit = limitOf(algorithm, 500, Duration.ofHours(1));
        TestKey key = key();
        Receipt receipt = key.spend(limit, 3).receipt();
        key.spend(limit, 497);
        together(thread -> () -> {
            backend().giveBack(receipt);
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
