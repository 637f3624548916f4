// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several instances with leases of one limit. */
@Tag("redis")
class SharedLeasesTest {
    private static final int THREADS = 16;

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET"})
    void severalInstancesAllowExactlyTheLimit(Algorithm algorithm) throws Exception {
        try (TestBackend one = TestBackend.on(RedisFixture.shared().address()).ready();
                TestBackend other =
                        TestBackend.on(RedisFixture.shared().address()).ready()) {
            RedissonBackend second = new RedissonBackend(other.client(), one.namespace(), Duration.ofSeconds(20));
            FaultCalls.awaitDecision(second);
            Charge charge = LeasedCalls.charge(150, LeasedCalls.monthly(algorithm, 20_011));
            AtomicLong allowedCalls = new AtomicLong();
            callInAllThreads(thread -> {
                RedissonBackend backend = thread % 2 == 0 ? one.backend() : second;
                for (int rejected = 0; rejected < 200; ) {
                    boolean allowed = backend.acquire(List.of(charge)).allowed();
                    allowedCalls.addAndGet(allowed ? 1 : 0);
                    rejected = allowed ? 0 : rejected + 1;
                }
            });
            assertThat(allowedCalls).hasValue(20_011);
            assertThat(one.remaining("k.hot", charge.policy().limits().get(0))).isZero();
        }
    }

    private interface Caller {
        void call(int thread);
    }

    private static void callInAllThreads(Caller caller) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int thread = i;
                all.add(pool.submit(() -> caller.call(thread)));
            }
            for (Future<?> each : all) {
                each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            pool.shutdownNow();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET"})
    void aKilledInstanceLosesAtMostItsLease(Algorithm algorithm, @TempDir Path folder) {
        long permits = 400_000;
        long lease = 1_000;
        try (RedisProcess redis = RedisProcess.started();
                TestBackend watch = TestBackend.on(redis.address()).ready();
                LeaseInstance first = instance(folder, "first", watch, algorithm, permits, lease);
                LeaseInstance second = instance(folder, "second", watch, algorithm, permits, lease);
                LeaseInstance third = instance(folder, "third", watch, algorithm, permits, lease)) {
            List<LeaseInstance> all = List.of(first, second, third);
            Await.until(
                    "all instances have allowed calls",
                    Duration.ofSeconds(60),
                    () -> all.stream().allMatch(instance -> instance.allowed() > 3 * lease));
            first.close();
            assertThat(allowed(all)).isLessThan(permits);
            AtomicLong before = new AtomicLong(-1);
            Await.until("no call is allowed any more", Duration.ofSeconds(90), () -> {
                pause();
                return allowed(all) == before.getAndSet(allowed(all));
            });
            assertThat(allowed(all)).isBetween(permits - lease - 1, permits);
        }
    }

    private static void pause() {
        long until = System.nanoTime() + Duration.ofSeconds(2).toNanos();
        Await.until("two seconds have passed", Duration.ofSeconds(10), () -> System.nanoTime() - until > 0);
    }

    private static long allowed(List<LeaseInstance> instances) {
        return instances.stream().mapToLong(LeaseInstance::allowed).sum();
    }

    private static LeaseInstance instance(
            Path folder, String name, TestBackend watch, Algorithm algorithm, long permits, long lease) {
        return LeaseInstance.started(folder, name, watch.address(), watch.namespace(), algorithm, permits, lease);
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET"})
    void anExhaustedQuotaSendsLessThanATwentiethOfItsCallsToRedis(Algorithm algorithm) throws Exception {
        overloaded(LeasedCalls.monthly(algorithm, 3_000), 60_000, Long.MAX_VALUE);
    }

    @ParameterizedTest
    @EnumSource(names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET"})
    void twentyTimesTheRateSendsLessThanATwentiethOfTheCallsToRedis(Algorithm algorithm) throws Exception {
        overloaded(Limit.of(algorithm, 1_000, Duration.ofSeconds(1)), 60_000, 20_000);
    }

    private static void overloaded(Limit limit, long most, long perSecond) throws Exception {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect();
                TestBackend fixture = TestBackend.on(process.address()).ready()) {
            Charge charge = LeasedCalls.charge(100, limit);
            AtomicLong calls = new AtomicLong();
            AtomicLong allowed = new AtomicLong();
            long commands = redis.calls("evalsha");
            long start = System.nanoTime();
            callInAllThreads(thread -> {
                for (long call = calls.getAndIncrement(); call < most; call = calls.getAndIncrement()) {
                    while ((System.nanoTime() - start) / 1e9 < (double) call / perSecond) {
                        Thread.yield();
                    }
                    Decision decision = fixture.backend().acquire(List.of(charge));
                    allowed.addAndGet(decision.allowed() ? 1 : 0);
                }
            });
            assertThat(allowed.get()).isGreaterThanOrEqualTo(limit.permits());
            // A machine that is too slow for the rate makes fewer calls in the time of the allowed ones.
            double windows = (System.nanoTime() - start) / 1e3 / limit.windowMicros();
            assertThat((redis.calls("evalsha") - commands) * 20.0)
                    .isLessThan(Math.max(most, 20 * limit.permits() * windows));
        }
    }
}
