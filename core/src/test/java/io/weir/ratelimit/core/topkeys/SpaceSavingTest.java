// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.topkeys.SpaceSaving.Bounds;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SpaceSavingTest {
    private static final long SEED = Long.getLong(
            "weir.test.seed",
            Boolean.getBoolean("weir.test.full") ? ThreadLocalRandom.current().nextLong() : 1);

    static {
        System.out.printf("sketch of the top keys: -Dweir.test.seed=%d%n", SEED);
    }

    private final Random random = new Random(SEED);
    private final SpaceSaving sketch = new SpaceSaving();
    private final Map<String, Long> exact = new HashMap<>();
    private long calls;

    private void count(String key, int utilization) {
        sketch.count(key, utilization);
    }

    private void count(String key) {
        count(key, 0);
        exact.merge(key, 1L, Long::sum);
        calls++;
    }

    private void check() {
        exact.forEach((key, count) -> {
            Bounds bounds = sketch.bounds(key);
            assertThat(count)
                    .as("%s, seed %d", key, SEED)
                    .isGreaterThanOrEqualTo(bounds.atLeast())
                    .isLessThanOrEqualTo(bounds.atMost());
            if (count > calls / SpaceSaving.COUNTERS) {
                assertThat(sketch.keys()).as("seed %d", SEED).contains(key);
            }
            if (!sketch.keys().contains(key)) {
                assertThat(sketch.maxOfOthers()).as("seed %d", SEED).isGreaterThanOrEqualTo(count);
            }
        });
        assertThat(sketch.keys()).hasSizeLessThanOrEqualTo(SpaceSaving.COUNTERS);
    }

    @Test
    void aFewKeysAreCountedExactly() {
        for (int i = 0; i < SpaceSaving.COUNTERS; i++) {
            for (int j = 0; j <= i; j++) {
                count("p.user" + i);
            }
        }
        exact.forEach((key, count) -> assertThat(sketch.bounds(key)).isEqualTo(new Bounds(count, count)));
        assertThat(sketch.bounds("p.nobody")).isEqualTo(new Bounds(0, 0));
    }

    @Test
    void theBoundsAreCorrectForAnyStreamAndFrequentKeysAreKept() {
        for (int run = 0; run < 20; run++) {
            int keys = 1 + random.nextInt(5_000);
            double skew = random.nextDouble() * 2;
            for (int i = 0; i < 20_000; i++) {
                count("p." + (int) (keys * Math.pow(random.nextDouble(), 1 + skew * 3)));
            }
            check();
        }
    }

    @Test
    void aFloodOfNewKeysDoesNotDisplaceAFrequentKey() {
        for (int i = 0; i < 200_000; i++) {
            count(i % 50 == 0 ? "p.frequent" : "i.flood" + random.nextLong());
        }
        Bounds frequent = sketch.bounds("p.frequent");
        assertThat(frequent.atMost()).as("seed %d", SEED).isGreaterThanOrEqualTo(4_000);
        assertThat(frequent.atLeast()).as("seed %d", SEED).isBetween(3_400L, 4_000L);
        assertThat(sketch.maxOfOthers()).as("seed %d", SEED).isLessThan(800);
        check();
    }

    /** All keys have one hash code, which a client can choose. */
    @Test
    void aFloodOfKeysWithOneHashCodeDoesNotDisplaceAFrequentKey() {
        for (int i = 0; i < 1 << 14; i++) {
            StringBuilder key = new StringBuilder();
            for (int bit = 0; bit < 14; bit++) {
                key.append((i >> bit & 1) == 0 ? "Aa" : "BB");
            }
            count(key.toString());
            if (i % 32 == 0) {
                count("p.frequent");
            }
        }
        assertThat(sketch.keys()).contains("p.frequent");
        check();
    }

    @Test
    void aKeyThatLostItsCounterIsStillCounted() {
        for (int i = 0; i < 10; i++) {
            count("p.early");
        }
        for (int i = 0; i < 100_000; i++) {
            count("i." + i);
        }
        assertThat(sketch.keys()).doesNotContain("p.early");
        assertThat(sketch.bounds("p.early").atMost()).isGreaterThanOrEqualTo(10);
        for (int i = 0; i < 10_000; i++) {
            count("p.early");
        }
        assertThat(sketch.bounds("p.early").atMost()).isGreaterThanOrEqualTo(10_010);
        check();
    }

    @Test
    void keepsTheHighestUtilizationOfAKeyWithACounter() {
        count("p.ann", 400);
        count("p.ann", 950);
        count("p.ann", 10);
        count("p.bob", 7);
        assertThat(sketch.utilization("p.ann")).isEqualTo(950);
        assertThat(sketch.utilization("p.bob")).isEqualTo(7);
        assertThat(sketch.utilization("p.nobody")).isZero();
    }

    @Test
    void aKeyOfAnyLengthIsCountedAndAVeryLongKeyHasNoCounter() {
        String longKey = "k.".repeat(SpaceSaving.LONGEST);
        for (int i = 0; i < 1_000; i++) {
            count(longKey);
        }
        assertThat(sketch.keys()).isEmpty();
        assertThat(sketch.bounds(longKey)).isEqualTo(new Bounds(0, 1_000));
    }

    @Test
    @Timeout(120)
    void theBoundsAreCorrectForConcurrentCalls() throws Exception {
        int threads = 4;
        for (int run = 0; run < 10; run++) {
            int keys = 100 + random.nextInt(400);
            SpaceSaving shared = new SpaceSaving();
            List<AtomicLong> counts = new ArrayList<>();
            for (int i = 0; i < keys; i++) {
                counts.add(new AtomicLong());
            }
            CyclicBarrier start = new CyclicBarrier(threads + 1);
            ExecutorService executor = Executors.newFixedThreadPool(threads + 1);
            try {
                List<Future<?>> done = new ArrayList<>();
                for (int thread = 0; thread < threads; thread++) {
                    Random own = new Random(SEED + run * 31L + thread);
                    done.add(executor.submit((Callable<Void>) () -> {
                        start.await();
                        for (int i = 0; i < 100_000; i++) {
                            int key = (int) (keys * own.nextDouble() * own.nextDouble());
                            String text = "p." + key;
                            shared.count(text, 0);
                            counts.get(key).incrementAndGet();
                        }
                        return null;
                    }));
                }
                done.add(executor.submit((Callable<Void>) () -> {
                    start.await();
                    for (int i = 0; i < 2_000; i++) {
                        int key = i % keys;
                        long before = counts.get(key).get();
                        Bounds bounds = shared.bounds("p." + key);
                        assertThat(bounds.atMost())
                                .as("p.%d while it is counted, seed %d", key, SEED)
                                .isGreaterThanOrEqualTo(before);
                    }
                    return null;
                }));
                for (Future<?> each : done) {
                    each.get(100, TimeUnit.SECONDS);
                }
            } finally {
                executor.shutdownNow();
            }
            for (int key = 0; key < keys; key++) {
                Bounds bounds = shared.bounds("p." + key);
                assertThat(counts.get(key).get())
                        .as("p.%d, seed %d", key, SEED)
                        .isGreaterThanOrEqualTo(bounds.atLeast())
                        .isLessThanOrEqualTo(bounds.atMost());
            }
            for (int key = 0; key < 5; key++) {
                assertThat(shared.keys()).as("seed %d", SEED).contains("p." + key);
            }
        }
    }
}
