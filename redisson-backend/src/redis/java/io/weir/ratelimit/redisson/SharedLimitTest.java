// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.RedisFixture;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One limit with many callers on Redis's own clock: exactly the limit is allowed. */
@Tag("redis")
class SharedLimitTest {
    private static final int THREADS = 64;
    private static final int CALLS = 20;

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    void manyThreadsShareOneLimitExactly(Algorithm algorithm) throws Exception {
        try (TestBackend fixture =
                TestBackend.on(RedisFixture.shared().address()).ready()) {
            Limit limit = TestBackend.limitOf(algorithm, 500, Duration.ofDays(30));
            assertThat(allowed(limit, List.of(fixture.backend()))).isEqualTo(500);
            assertThat(fixture.remaining("k.hot", limit)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    void twoInstancesShareOneLimitExactly(Algorithm algorithm) throws Exception {
        try (TestBackend one = TestBackend.on(RedisFixture.shared().address()).ready();
                TestBackend other = one.anotherClient()) {
            Limit limit = TestBackend.limitOf(algorithm, 777, Duration.ofDays(30));
            assertThat(allowed(limit, List.of(one.backend(), other.backend()))).isEqualTo(777);
            assertThat(one.remaining("k.hot", limit)).isZero();
        }
    }

    private static long allowed(Limit limit, List<RateLimitBackend> backends) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try {
            CountDownLatch ready = new CountDownLatch(THREADS);
            List<Future<Integer>> all = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                RateLimitBackend backend = backends.get(thread % backends.size());
                all.add(pool.submit(() -> {
                    ready.countDown();
                    ready.await();
                    int allowed = 0;
                    for (int call = 0; call < CALLS; call++) {
                        allowed += backend.acquire(List.of(TestBackend.charge("k.hot", 1, limit)))
                                        .allowed()
                                ? 1
                                : 0;
                    }
                    return allowed;
                }));
            }
            long allowed = 0;
            for (Future<Integer> each : all) {
                allowed += each.get(60, TimeUnit.SECONDS);
            }
            return allowed;
        } finally {
            pool.shutdownNow();
        }
    }
}
