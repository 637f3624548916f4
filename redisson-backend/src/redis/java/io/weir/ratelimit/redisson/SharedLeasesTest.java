// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.spi.Charge;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several instances with leases of one limit. */
@Tag("redis")
class SharedLeasesTest {
    private static final int THREADS = 16;

    private final RedisProcess process = RedisProcess.started();
    private TestBackend fixture;
    private TestBackend second;

    @BeforeEach
    void connect() {
        fixture = TestBackend.on(process.address()).ready();
        second = fixture.anotherClient();
    }

    @AfterEach
    void disconnect() {
        second.close();
        fixture.close();
        process.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET"})
    void severalInstancesAllowExactlyTheLimit(Algorithm algorithm) throws Exception {
        long permits = 5_011;
        Charge charge = LeasedCalls.charge(150, LeasedCalls.monthly(algorithm, permits));
        AtomicLong allowed = new AtomicLong();
        callInAllThreads(thread -> {
            RedissonBackend backend = thread % 2 == 0 ? fixture.backend() : second.backend();
            for (int rejected = 0; rejected < 50; ) {
                rejected = allows(backend, charge, allowed) ? 0 : rejected + 1;
            }
        });
        // The last permits of a lease can arrive after these calls.
        Await.until("the limit is spent", LeasedCalls.SOON, () -> {
            callUntilRejected(charge, allowed);
            return allowed.get() >= permits;
        });
        callUntilRejected(charge, allowed);
        assertThat(allowed).hasValue(permits);
        assertThat(fixture.remaining("k.hot", charge.policy().limits().get(0))).isZero();
    }

    private static boolean allows(RedissonBackend backend, Charge charge, AtomicLong allowed) {
        boolean allows = backend.acquire(List.of(charge)).allowed();
        allowed.addAndGet(allows ? 1 : 0);
        return allows;
    }

    private void callUntilRejected(Charge charge, AtomicLong allowed) {
        for (RedissonBackend backend : List.of(fixture.backend(), second.backend())) {
            while (allows(backend, charge, allowed)) {
                // the limit is not spent
            }
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

    @Test
    void aKilledInstanceLosesAtMostItsLease(@TempDir Path folder) {
        long permits = 10_000;
        long lease = 500;
        List<Charge> charges = LeaseInstance.charges(permits, lease);
        try (LeaseInstance killed =
                LeaseInstance.started(folder, fixture.address(), fixture.namespace(), permits, lease)) {
            List<LeasedCalls> others = charges.stream()
                    .map(charge -> new LeasedCalls(fixture.backend(), second.backend(), charge))
                    .toList();
            killed.awaitLeases();
            for (int i = 0; i < charges.size(); i++) {
                int limit = i;
                Await.until(
                        "the instance holds permits",
                        LeasedCalls.SOON,
                        () -> others.get(limit).spentInRedis() > killed.allowed(limit) + 1);
            }
            others.forEach(LeasedCalls::hot);
            killed.close();
            for (int limit = 0; limit < charges.size(); limit++) {
                LeasedCalls calls = others.get(limit);
                long allowedByKilled = killed.allowed(limit);
                Await.until("no more than the lease is lost", LeasedCalls.SOON, () -> {
                    calls.untilRejected();
                    return calls.spentInRedis() == permits && calls.allowed() + allowedByKilled >= permits - lease - 1;
                });
                assertThat(calls.allowed() + allowedByKilled).isLessThanOrEqualTo(permits);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET"})
    void anExhaustedQuotaSendsLessThanATwentiethOfItsCallsToRedis(Algorithm algorithm) throws Exception {
        Charge charge = LeasedCalls.charge(100, LeasedCalls.monthly(algorithm, 1_000));
        new LeasedCalls(fixture.backend(), second.backend(), charge).hot().spendAll(1_000);
        int calls = 1_000;
        try (RedisConnection redis = process.connect()) {
            long before = redis.calls("evalsha");
            long start = System.nanoTime();
            callInAllThreads(thread -> {
                for (int call = 0; call < calls; call++) {
                    assertThat(fixture.backend().acquire(List.of(charge)).allowed())
                            .isFalse();
                }
            });
            // A rejection is cached for one second. Then each thread can send a call.
            long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
            assertThat(redis.calls("evalsha") - before)
                    .isLessThan(Math.max(THREADS * calls / 20, THREADS * (seconds + 1)));
        }
    }
}
