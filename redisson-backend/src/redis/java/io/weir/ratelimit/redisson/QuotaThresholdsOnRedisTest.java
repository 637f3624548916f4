// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.events.QuotaThresholds;
import io.weir.ratelimit.core.events.RejectionListener;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Three instances with clients of their own on one Redis: one of them reports each share of a key, once. */
@Tag("redis")
class QuotaThresholdsOnRedisTest {
    private static final int THREADS = 24;
    private static final int CALLS = 30;
    private static final int KEYS = 5;
    private static final int PERMITS = 100;
    private static final List<Integer> SHARES = List.of(1, 50, 80, 100);

    private final Queue<QuotaThresholdReached> events = new ConcurrentLinkedQueue<>();

    private RateLimitEngine instance(RateLimitBackend backend, ExecutorService executor) {
        return RedisEngine.of(
                RedisEngine.withFallback(backend, RedisEngine.NO_LOCAL, RedisEngine.DEADLINE),
                RedisEngine.PLAIN,
                Overrides.NONE,
                new QuotaThresholds(
                        backend,
                        RedisEngine.PLAIN,
                        new KeyMasker(Optional.empty()),
                        () -> executor,
                        () -> System.currentTimeMillis() * 1_000,
                        List.of(events::add)),
                RejectionListener.NONE);
    }

    private static Binding binding(Algorithm algorithm, Duration window, long lease) {
        return binding(TestBackend.limitOf(algorithm, PERMITS, window), lease);
    }

    private static Binding binding(Limit limit, long lease) {
        Policy policy = RedisEngine.policy(
                new PolicyLimits("api", List.of(limit)).withLease(lease),
                Policy.Mode.ENFORCE,
                SHARES,
                Optional.empty(),
                0);
        return new Binding("Search.find", List.of(new Binding.PolicyCost(policy, 1)));
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void oneInstanceReportsEachShareOfAKey(Algorithm algorithm) throws Exception {
        verify(binding(algorithm, Duration.ofDays(30), 0), false);
    }

    @Test
    void oneInstanceReportsEachShareOfACalendarLimit() throws Exception {
        Limit year = Limit.of(PERMITS, new CalendarPeriod(CalendarPeriod.Unit.YEAR, ZoneId.of("UTC"), 1));
        verify(binding(year, 0), false);
    }

    @ParameterizedTest
    @ValueSource(strings = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET"})
    void leasesReportOnce(Algorithm algorithm) throws Exception {
        verify(binding(algorithm, Duration.ofDays(30), 5), false);
    }

    /** Each refunded call reaches shares again. */
    @Test
    void refundedCallsReportOnce() throws Exception {
        verify(binding(Algorithm.FIXED_WINDOW, Duration.ofDays(30), 0), true);
    }

    private void verify(Binding binding, boolean refunds) throws Exception {
        ExecutorService reports = Executors.newFixedThreadPool(3);
        ExecutorService callers = Executors.newFixedThreadPool(THREADS);
        try (TestBackend one = TestBackend.on(RedisFixture.shared().address()).ready();
                TestBackend two = one.anotherClient();
                TestBackend three = one.anotherClient()) {
            List<TestBackend> backends = List.of(one, two, three);
            List<RateLimitEngine> engines = backends.stream()
                    .map(backend -> instance(backend.backend(), reports))
                    .toList();
            CountDownLatch ready = new CountDownLatch(THREADS);
            List<Future<?>> all = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                int index = thread;
                all.add(callers.submit(() -> {
                    ready.countDown();
                    ready.await();
                    for (int call = 0; call < CALLS; call++) {
                        TestCall caller = TestCall.byPrincipal("user" + (index + call) % KEYS);
                        Decision decision = engines.get(index % 3).decide(binding, caller, null);
                        if (refunds && call % 3 == 0 && decision instanceof Decision.Allowed allowed) {
                            backends.get(index % 3)
                                    .backend()
                                    .refund(allowed.receipt())
                                    .toCompletableFuture()
                                    .join();
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get(60, TimeUnit.SECONDS);
            }
            // Calls of one caller after the others reach the shares that refunds have left.
            for (int key = 0; key < KEYS; key++) {
                TestCall caller = TestCall.byPrincipal("user" + key);
                for (int call = 0; call < PERMITS; call++) {
                    engines.get(call % 3).decide(binding, caller, null);
                }
            }
            reports.shutdown();
            assertThat(reports.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        } finally {
            callers.shutdownNow();
            reports.shutdownNow();
        }
        assertThat(events.stream()
                        .collect(Collectors.groupingBy(
                                event -> event.identity().parts().get(0).value() + " " + event.percent(),
                                Collectors.counting())))
                .hasSize(KEYS * SHARES.size())
                .allSatisfy((share, count) -> assertThat(count).as(share).isEqualTo(1));
    }
}
