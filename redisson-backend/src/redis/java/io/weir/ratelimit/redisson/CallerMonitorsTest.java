// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Callers that wait for Redis hold no monitor, because a virtual thread before JDK 24 blocks its carrier in a monitor. */
@Tag("fault")
class CallerMonitorsTest {
    private interface Call {
        void on(RedissonBackend backend);
    }

    private static final Map<String, Call> CALLS = Map.of(
            "acquire", backend -> backend.acquire(List.of(TestBackend.charge("k.a", 1, FaultCalls.LIMIT))),
            "acquire two keys",
                    backend -> backend.acquire(List.of(
                            TestBackend.charge("k.a", 1, FaultCalls.LIMIT),
                            TestBackend.charge("k.b", 1, FaultCalls.LIMIT))),
            "peek", backend -> backend.peek(List.of(TestBackend.charge("k.a", 1, FaultCalls.LIMIT))),
            "refund", backend -> await(backend, known -> known.refund(TestBackend.charge("k.a", 1, FaultCalls.LIMIT))),
            "block",
                    backend -> await(
                            backend,
                            known -> blocks(known)
                                    .block(
                                            TestBackend.charge("k.a", 1, FaultCalls.LIMIT)
                                                    .policy(),
                                            "k.a",
                                            Duration.ofMinutes(1))),
            "unblock",
                    backend -> await(
                            backend,
                            known -> blocks(known)
                                    .unblock(
                                            TestBackend.charge("k.a", 1, FaultCalls.LIMIT)
                                                    .policy(),
                                            "k.a")),
            "reset",
                    backend -> backend.reset(
                            List.of(TestBackend.charge("k.a", 1, FaultCalls.LIMIT)
                                    .policy()),
                            "k.a"));

    /** Waits for a stage as the engine does. */
    private static <T> void await(RedissonBackend backend, Function<RateLimitBackend, CompletionStage<T>> operation) {
        RedisEngine.withFallback(backend, RedisEngine.NO_LOCAL, Duration.ofSeconds(10))
                .callAndAwait(operation);
    }

    private static BlocksKeys blocks(RateLimitBackend backend) {
        return backend.capability(BlocksKeys.class).orElseThrow();
    }

    @Test
    void waitingCallersHoldNoMonitor() throws InterruptedException {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = new TestConfig(
                            Map.of(RedisSettings.ADDRESS, redis.address(), "ratelimit.redis.deadline", "10s"))
                    .started();
            List<Thread> callers = new ArrayList<>();
            try {
                FaultCalls.awaitDecision(backend);
                redis.pause();
                CALLS.forEach((name, call) -> callers.add(started(name, () -> call.on(backend))));
                for (Thread caller : callers) {
                    Await.until(caller.getName() + " waits", Duration.ofSeconds(9), () -> waitsInBackend(caller));
                    assertThat(Stream.of(info(caller).getLockedMonitors()).map(LockInfo::getClassName))
                            .as("monitors of the caller of %s", caller.getName())
                            .isEmpty();
                }
                redis.resume();
                for (Thread caller : callers) {
                    caller.join();
                }
            } finally {
                backend.close();
            }
        }
    }

    private static Thread started(String name, Runnable call) {
        Thread thread = new Thread(
                () -> {
                    try {
                        call.run();
                    } catch (BackendException | RateLimitUnavailableException e) {
                        // the deadline has passed
                    }
                },
                name);
        thread.start();
        return thread;
    }

    private static ThreadInfo info(Thread thread) {
        return ManagementFactory.getThreadMXBean().getThreadInfo(new long[] {thread.getId()}, true, true)[0];
    }

    private static boolean waitsInBackend(Thread thread) {
        ThreadInfo info = info(thread);
        return info != null
                && (info.getThreadState() == Thread.State.TIMED_WAITING
                        || info.getThreadState() == Thread.State.WAITING)
                && Stream.of(info.getStackTrace())
                        .map(StackTraceElement::getClassName)
                        .anyMatch(Set.of(BlockingAwait.class.getName(), FallbackBackend.class.getName())::contains);
    }
}
