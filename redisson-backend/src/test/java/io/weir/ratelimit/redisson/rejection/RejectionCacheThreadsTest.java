// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.rejection;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.FixedWindowState;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
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

class RejectionCacheThreadsTest {
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

    /** Returns a charge that lacks one permit. The remaining permits identify the key. */
    private static List<Charge> charge(int key) {
        return List.of(new Charge(API, "all", key + 1));
    }

    private static List<LimitState> state(int key) {
        return List.of(new FixedWindowState(REDIS_NOW, 1_000 - key));
    }

    private static List<String> keys(int key) {
        return List.of("key " + key);
    }

    private static void put(RejectionCache cache, int key, long version) {
        cache.put(ChargeStates.split(charge(key), state(key)), keys(key), new RedisTime(REDIS_NOW, 0, 0), version);
    }

    private static Optional<Decision.Rejected> find(RejectionCache cache, int key) {
        return cache.find(charge(key), keys(key), 0);
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
        assertThat(sum).as("the number of rejections that were found").isPositive();
    }

    @Test
    void findsNoRejectionOfAnotherKey() throws Exception {
        RejectionCache cache = new RejectionCache(RedisKeys.of("test"), 16);
        run(THREADS, () -> {
            Random random = new Random(Thread.currentThread().getId());
            long found = 0;
            for (int i = 0; i < ROUNDS; i++) {
                int key = random.nextInt(THREADS);
                switch (random.nextInt(8)) {
                    case 0 -> cache.invalidate(keys(key));
                    case 1 -> cache.remove(keys(key), new RedisTime(REDIS_NOW, 1, 1));
                    case 2, 3 -> put(cache, key, cache.version(keys(key)));
                    default -> {
                        Optional<Decision.Rejected> rejection = find(cache, key);
                        if (rejection.isPresent()) {
                            found++;
                            assertThat(rejection.get().quotas())
                                    .extracting(Quota::remaining)
                                    .containsExactly((long) key);
                        }
                    }
                }
            }
            return found;
        });
    }

    /** The next call after a refund goes to Redis, whatever other threads do meanwhile. */
    @Test
    void findsNoOlderRejectionAfterInvalidation() throws Exception {
        RejectionCache cache = new RejectionCache(RedisKeys.of("test"), 2);
        CyclicBarrier start = new CyclicBarrier(2);
        run(2, () -> {
            boolean puts = start.await() == 0;
            long seen = 0;
            for (int i = 0; i < ROUNDS; i++) {
                int key = i % 3;
                long version = cache.version(keys(key));
                start.await();
                if (puts) {
                    put(cache, key, version);
                    seen += find(cache, key).isPresent() ? 1 : 0;
                } else {
                    cache.invalidate(keys(key));
                }
                start.await();
                assertThat(find(cache, key)).as("round %s", i).isEmpty();
                start.await();
            }
            return puts ? seen : 1;
        });
    }
}
