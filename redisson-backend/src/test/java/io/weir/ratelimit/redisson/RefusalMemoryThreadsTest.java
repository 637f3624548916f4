// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.FixedWindowState;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RefusalMemoryThreadsTest {
    private static final int THREADS = 64;
    private static final int ROUNDS = 5_000;
    private static final long REDIS_NOW = 1_000_000_000L;
    private static final PolicyLimits API =
            new PolicyLimits("api", List.of(Limit.of(Algorithm.FIXED_WINDOW, 1_000, Duration.ofMinutes(1))));

    private final ExecutorService executor = Executors.newFixedThreadPool(THREADS);

    @AfterEach
    void end() {
        executor.shutdownNow();
    }

    /** Refused for want of one permit; what remains tells which key was meant. */
    private static List<Charge> charge(int key) {
        return List.of(new Charge(API, "all", key + 1));
    }

    private static List<LimitState> state(int key) {
        return List.of(new FixedWindowState(REDIS_NOW, 1_000 - key));
    }

    private static List<String> keys(int key) {
        return List.of("key " + key);
    }

    private static void remember(RefusalMemory memory, int key, long stamp) {
        memory.remember(charge(key), keys(key), state(key), REDIS_NOW, 0, 0, stamp);
    }

    private static Optional<Decision.Rejected> recall(RefusalMemory memory, int key) {
        return memory.recall(charge(key), keys(key), 0);
    }

    private void run(int threads, Callable<Long> task) throws Exception {
        List<Future<Long>> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            running.add(executor.submit(task));
        }
        long sum = 0;
        for (Future<Long> one : running) {
            sum += one.get(60, TimeUnit.SECONDS);
        }
        assertThat(sum).as("how often something was seen").isPositive();
    }

    @Test
    void noKeyIsEverAnsweredForByAnother() throws Exception {
        RefusalMemory memory = new RefusalMemory(16);
        run(THREADS, () -> {
            Random random = new Random(Thread.currentThread().getId());
            long recalled = 0;
            for (int i = 0; i < ROUNDS; i++) {
                int key = random.nextInt(THREADS);
                switch (random.nextInt(8)) {
                    case 0 -> memory.forget(keys(key));
                    case 1 -> memory.admitted(keys(key));
                    case 2, 3 -> remember(memory, key, memory.stamp(keys(key)));
                    default -> {
                        Optional<Decision.Rejected> refusal = recall(memory, key);
                        if (refusal.isPresent()) {
                            recalled++;
                            assertThat(refusal.get().quotas())
                                    .extracting(Quota::remaining)
                                    .containsExactly((long) key);
                        }
                    }
                }
            }
            return recalled;
        });
    }

    /** Who gives permits back finds the next call sent to Redis, whatever other threads remember or forget meanwhile. */
    @Test
    void afterForgettingNothingOlderIsEverTold() throws Exception {
        RefusalMemory memory = new RefusalMemory(2);
        CyclicBarrier start = new CyclicBarrier(2);
        run(2, () -> {
            boolean remembers = start.await() == 0;
            long seen = 0;
            for (int i = 0; i < ROUNDS; i++) {
                int key = i % 3;
                long stamp = memory.stamp(keys(key));
                start.await();
                if (remembers) {
                    remember(memory, key, stamp);
                    seen += recall(memory, key).isPresent() ? 1 : 0;
                } else {
                    memory.forget(keys(key));
                }
                start.await();
                assertThat(recall(memory, key)).as("round %s", i).isEmpty();
                start.await();
            }
            return remembers ? seen : 1;
        });
    }
}
