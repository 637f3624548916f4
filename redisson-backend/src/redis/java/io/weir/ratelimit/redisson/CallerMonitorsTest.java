// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.SettlesCharges;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Callers that wait for Redis hold no monitor, because a virtual thread before JDK 24 blocks its carrier in a monitor. */
@Tag("fault")
class CallerMonitorsTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final int MOST_SLOTS = 1_000;

    private interface Call {
        /** Calls the backend, with a receipt of its own. */
        void on(RedissonBackend backend, Receipt receipt);
    }

    private static final Map<String, Call> CALLS = Map.of(
            "acquire", (backend, receipt) -> backend.acquire(List.of(charge("k.a"))),
            "acquire two keys", (backend, receipt) -> backend.acquire(List.of(charge("k.a"), charge("k.b"))),
            "peek", (backend, receipt) -> backend.peek(List.of(charge("k.a"))),
            "refund", (backend, receipt) -> await(backend, known -> known.refund(receipt)),
            "settle",
                    (backend, receipt) -> await(
                            backend,
                            known -> capability(known, SettlesCharges.class).settle(receipt, charge -> true, 2)),
            "release",
                    (backend, receipt) -> await(
                            backend,
                            known -> capability(known, HoldsSlots.class).release(receipt)),
            "renew",
                    (backend, receipt) -> await(
                            backend,
                            known -> capability(known, HoldsSlots.class).renew(List.of(receipt))),
            "block",
                    (backend, receipt) -> await(
                            backend,
                            known -> capability(known, BlocksKeys.class)
                                    .block(charge("k.a").policy(), "k.blocked", Duration.ofMinutes(1))),
            "unblock",
                    (backend, receipt) -> await(
                            backend,
                            known -> capability(known, BlocksKeys.class)
                                    .unblock(charge("k.a").policy(), "k.blocked")),
            "reset", (backend, receipt) -> backend.reset(List.of(charge("k.a").policy()), "k.a"));

    private static Charge charge(String key) {
        return TestBackend.charge(key, 1, FaultCalls.LIMIT, Limit.concurrency(MOST_SLOTS, Duration.ofMinutes(1)));
    }

    /** Waits for a stage as the engine does. */
    private static <T> void await(RedissonBackend backend, Function<RateLimitBackend, CompletionStage<T>> operation) {
        RedisEngine.withFallback(backend, RedisEngine.NO_LOCAL, DEADLINE).callAndAwait(operation);
    }

    private static <C> C capability(RateLimitBackend backend, Class<C> type) {
        return backend.capability(type).orElseThrow();
    }

    @Test
    void waitingCallersHoldNoMonitor() {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = new TestConfig(Map.of(
                            RedisSettings.ADDRESS,
                            redis.address(),
                            "ratelimit.redis.deadline",
                            DEADLINE.toSeconds() + "s"))
                    .started();
            try {
                for (Map.Entry<String, Call> call : CALLS.entrySet()) {
                    assertThat(Stream.of(waiting(redis, backend, call.getKey(), call.getValue())
                                            .getLockedMonitors())
                                    .map(LockInfo::getClassName))
                            .as("monitors of the caller of %s", call.getKey())
                            .isEmpty();
                }
            } finally {
                backend.close();
            }
        }
    }

    /** Returns a caller as it waits. A call on a slow machine can end before it is seen, because the client replaces its connection. */
    private static ThreadInfo waiting(RedisProcess redis, RedissonBackend backend, String name, Call call) {
        AtomicReference<ThreadInfo> seen = new AtomicReference<>();
        Await.until(name + " waits", Duration.ofMinutes(1), () -> {
            FaultCalls.awaitDecision(backend);
            Receipt receipt = backend.acquire(List.of(charge("k.a"))).receipt();
            redis.pause();
            Thread caller = started(name, () -> call.on(backend, receipt));
            try {
                ThreadInfo info = info(caller);
                while (info != null && !waitsInBackend(info)) {
                    Thread.onSpinWait();
                    info = info(caller);
                }
                seen.set(info);
            } finally {
                redis.resume();
                join(caller);
            }
            return seen.get() != null;
        });
        return seen.get();
    }

    private static void join(Thread caller) {
        try {
            caller.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
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

    private static boolean waitsInBackend(ThreadInfo info) {
        return (info.getThreadState() == Thread.State.TIMED_WAITING || info.getThreadState() == Thread.State.WAITING)
                && Stream.of(info.getStackTrace())
                        .map(StackTraceElement::getClassName)
                        .anyMatch(Set.of(BlockingAwait.class.getName(), FallbackBackend.class.getName())::contains);
    }
}
