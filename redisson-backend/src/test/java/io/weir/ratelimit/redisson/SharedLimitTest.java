// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One limit, many callers, Redis's own clock: exactly the limit is admitted. */
class SharedLimitTest {
    private static final int THREADS = 64;
    private static final int CALLS = 20;

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    void manyThreadsOnOneKeyAreAdmittedExactlyTheLimit(Algorithm algorithm) throws Exception {
        try (TestStore store = TestStore.on(RedisFixture.shared().address()).ready()) {
            Limit limit = TestStore.limitOf(algorithm, 500, Duration.ofDays(30));
            assertThat(admitted(limit, List.of(store.backend()))).isEqualTo(500);
            assertThat(store.remaining("k.hot", limit)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    void twoInstancesShareOneLimitExactly(Algorithm algorithm) throws Exception {
        try (TestStore one = TestStore.on(RedisFixture.shared().address()).ready();
                TestStore other = TestStore.on(RedisFixture.shared().address()).ready()) {
            RedissonBackend second = new RedissonBackend(other.client(), one.namespace(), Duration.ofSeconds(20));
            FaultCalls.awaitDecision(second);
            Limit limit = TestStore.limitOf(algorithm, 777, Duration.ofDays(30));
            assertThat(admitted(limit, List.of(one.backend(), second))).isEqualTo(777);
            assertThat(one.remaining("k.hot", limit)).isZero();
        }
    }

    private static long admitted(Limit limit, List<RateLimitBackend> backends) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try {
            CountDownLatch ready = new CountDownLatch(THREADS);
            List<Future<Integer>> all = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                RateLimitBackend backend = backends.get(thread % backends.size());
                all.add(pool.submit(() -> {
                    ready.countDown();
                    ready.await();
                    int admitted = 0;
                    for (int call = 0; call < CALLS; call++) {
                        admitted += backend.acquire(List.of(TestStore.charge("k.hot", 1, limit)))
                                        .allowed()
                                ? 1
                                : 0;
                    }
                    return admitted;
                }));
            }
            long admitted = 0;
            for (Future<Integer> each : all) {
                admitted += each.get(60, TimeUnit.SECONDS);
            }
            return admitted;
        } finally {
            pool.shutdownNow();
        }
    }
}
