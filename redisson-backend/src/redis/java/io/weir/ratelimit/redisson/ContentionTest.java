// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** 64 threads with 256 asynchronous calls in flight on a hot key: exactly the limit is allowed, as without batches. */
@Tag("redis")
class ContentionTest {
    private static final int THREADS = 64;
    private static final int IN_FLIGHT_PER_THREAD = 4;
    private static final int CALLS = 60;
    private static final long PERMITS = 2_000;

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void allowsExactlyTheLimitInBatches(Algorithm algorithm) throws Exception {
        Limit limit = TestBackend.limitOf(algorithm, PERMITS, Duration.ofDays(30));
        Limit beside = TestBackend.limitOf(Algorithm.FIXED_WINDOW, 3 * PERMITS, Duration.ofDays(31));
        try (TestBackend fixture =
                        TestBackend.on(RedisFixture.shared().address()).ready();
                RedisConnection redis = RedisFixture.shared().connect()) {
            AtomicInteger allowed = new AtomicInteger();
            AtomicReference<Throwable> failure = new AtomicReference<>();
            List<Charge> one = List.of(TestBackend.charge("k.hot", 1, limit));
            List<Charge> both = List.of(TestBackend.charge("k.hot", 1, limit, beside));
            long calls = redis.calls("evalsha");
            ExecutorService pool = Executors.newFixedThreadPool(THREADS);
            try {
                CountDownLatch ready = new CountDownLatch(THREADS);
                List<Future<?>> all = new ArrayList<>();
                for (int thread = 0; thread < THREADS; thread++) {
                    List<Charge> charges = thread % 2 == 0 ? one : both;
                    all.add(pool.submit(() -> {
                        Semaphore inFlight = new Semaphore(IN_FLIGHT_PER_THREAD);
                        ready.countDown();
                        ready.await();
                        for (int call = 0; call < CALLS; call++) {
                            inFlight.acquire();
                            fixture.backend().acquireAsync(charges).whenComplete((decision, thrown) -> {
                                if (thrown != null) {
                                    failure.set(thrown);
                                } else if (decision.allowed()) {
                                    allowed.incrementAndGet();
                                }
                                inFlight.release();
                            });
                        }
                        inFlight.acquire(IN_FLIGHT_PER_THREAD);
                        return null;
                    }));
                }
                for (Future<?> each : all) {
                    each.get(60, TimeUnit.SECONDS);
                }
            } finally {
                pool.shutdownNow();
            }
            assertThat(failure.get()).isNull();
            assertThat(allowed).hasValue((int) PERMITS);
            assertThat(fixture.remaining("k.hot", limit)).isZero();
            assertThat(redis.calls("evalsha") - calls)
                    .as("script calls for %d allowed calls", PERMITS)
                    .isLessThan(PERMITS);
        }
    }
}
