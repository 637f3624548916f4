// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.PinnedThreads;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.Stopwatch;
import io.weir.ratelimit.fixtures.VirtualThreads;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** 2,000 virtual threads that call at once, also while Redis does not answer. */
@Tag("fault")
@Tag("threads")
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads need Java 21")
class ManyVirtualThreadsTest {
    private static final int CALLERS = 2_000;
    private static final Limit LIMIT = Limit.of(Algorithm.TOKEN_BUCKET, 500, Duration.ofDays(1));

    /** Callers that blocked their carriers would need hundreds of deadlines on a machine with a few processors. */
    private static final Duration ROUND = FaultCalls.DEADLINE.multipliedBy(30);

    private static final int ROUNDS = 10;
    private static final long MAX_GROWTH_MEGABYTES = 48;

    @Test
    void manyCallersOfOneKeySpendExactlyItsLimit() {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = started(redis, "20s");
            try {
                Charge charge = TestBackend.charge("k.one", 1, LIMIT);
                List<Boolean> allowed = VirtualThreads.together(
                        CALLERS, () -> backend.acquire(List.of(charge)).allowed());
                assertThat(allowed.stream().filter(each -> each)).hasSize(500);
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void noCallerBlocksItsCarrier() {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = started(redis, "20s");
            try (PinnedThreads pinned = PinnedThreads.recording()) {
                // The cost is more than the limit allows at once, so that each call reaches Redis or its queue.
                Charge charge = TestBackend.charge("k.pinned", 1, FaultCalls.LIMIT);
                VirtualThreads.together(CALLERS, () -> backend.acquire(List.of(charge)));
                assertThat(pinned.through("io.weir.ratelimit.redisson")).isEmpty();
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void callsKeepTheirDeadlineAndMemoryIsBoundedWhileRedisDoesNotAnswer() {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = started(redis, FaultCalls.DEADLINE.toMillis() + "ms");
            Charge charge = TestBackend.charge("k.stopped", 1, FaultCalls.LIMIT);
            try {
                redis.pause();
                // The first calls initialize classes, in each state of the breaker. A thread that waits for a class is
                // pinned.
                Set<Reason> reasons = round(backend, charge);
                reasons.addAll(round(backend, charge));
                long before = usedMegabytes();
                try (PinnedThreads pinned = PinnedThreads.recording()) {
                    for (int i = 0; i < ROUNDS; i++) {
                        reasons.addAll(round(backend, charge));
                    }
                    assertThat(pinned.through("io.weir.ratelimit.redisson")).isEmpty();
                }
                assertThat(reasons).isSubsetOf(Reason.TIMEOUT, Reason.FULL, Reason.CONNECTION);
                assertThat(usedMegabytes() - before).isLessThan(MAX_GROWTH_MEGABYTES);
                redis.resume();
                FaultCalls.awaitDecision(backend);
            } finally {
                backend.close();
            }
        }
    }

    private static Set<Reason> round(RedissonBackend backend, Charge charge) {
        Stopwatch watch = Stopwatch.started();
        List<Reason> reasons = VirtualThreads.together(CALLERS, () -> {
            try {
                throw new AssertionError("decided " + backend.acquire(List.of(charge)));
            } catch (BackendException e) {
                return e.reason();
            }
        });
        assertThat(watch.elapsed()).as("time of all calls").isLessThan(ROUND);
        return EnumSet.copyOf(reasons);
    }

    private static RedissonBackend started(RedisProcess redis, String deadline) {
        RedissonBackend backend = new TestConfig(
                        Map.of(RedisSettings.ADDRESS, redis.address(), "ratelimit.redis.deadline", deadline))
                .started();
        FaultCalls.awaitDecision(backend);
        VirtualThreads.together(10, () -> backend.peek(List.of(TestBackend.charge("k.first", 1, LIMIT))));
        return backend;
    }

    private static long usedMegabytes() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return (runtime.totalMemory() - runtime.freeMemory()) >> 20;
    }
}
