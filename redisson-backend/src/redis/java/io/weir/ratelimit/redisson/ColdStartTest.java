// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.Stopwatch;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A start under load, with the default breaker, while the first calls are too slow: Redis is paused when the connection exists. */
@Tag("fault")
@Tag("ci")
class ColdStartTest {
    private static final int CALLERS = 32;
    private static final Duration PAUSE = Duration.ofMillis(700);

    /** The delay of the breaker is 30 s by default. */
    private static final Duration RECOVERY = Duration.ofSeconds(10);

    /** A pause that a busy machine makes longer is no failure of a master. */
    private static final String NODE_TIMEOUT_MILLIS = "60000";

    @Test
    void onASingleRedis() {
        try (RedisProcess redis = RedisProcess.started()) {
            assertDecidesSoonAfterTheStart("single Redis", redis.address(), List.of(redis));
        }
    }

    @Test
    void onACluster() {
        try (ClusterFixture cluster = ClusterFixture.started(0, "--cluster-node-timeout", NODE_TIMEOUT_MILLIS)) {
            assertDecidesSoonAfterTheStart("cluster", cluster.address(), cluster.masters());
        }
    }

    private static void assertDecidesSoonAfterTheStart(String name, String address, List<RedisProcess> servers) {
        Map<Reason, LongAdder> failures = new EnumMap<>(Reason.class);
        for (Reason reason : Reason.values()) {
            failures.put(reason, new LongAdder());
        }
        List<LongAdder> decided = Stream.generate(LongAdder::new).limit(CALLERS).toList();
        AtomicBoolean ended = new AtomicBoolean();
        RedissonBackend backend = new TestConfig(
                        Map.of(RedisSettings.ADDRESS, address, "CircuitBreaker/enabled", "true"))
                .withDeadline(FaultCalls.DEADLINE)
                .started();
        List<CompletableFuture<Void>> callers = IntStream.range(0, CALLERS)
                .mapToObj(caller -> CompletableFuture.runAsync(
                        () -> call(backend, caller, failures, decided.get(caller), ended),
                        task -> new Thread(task, "caller-" + caller).start()))
                .toList();
        try {
            Await.until(
                    "a connection",
                    Duration.ofSeconds(30),
                    () -> backend.status().initialized());
            servers.forEach(RedisProcess::pause);
            Stopwatch paused = Stopwatch.started();
            Await.until(
                    "the pause ends",
                    Duration.ofSeconds(30),
                    () -> paused.elapsed().compareTo(PAUSE) > 0);
            servers.forEach(RedisProcess::resume);
            List<Long> before = decided.stream().map(LongAdder::sum).toList();
            Await.until(
                    "each caller is decided, and the breaker is closed",
                    RECOVERY,
                    () -> !backend.status().breakerOpen()
                            && IntStream.range(0, CALLERS)
                                    .allMatch(caller -> decided.get(caller).sum() > before.get(caller)));
        } finally {
            ended.set(true);
            callers.forEach(CompletableFuture::join);
            backend.close();
        }
        System.out.printf(
                "start under load on a %s: %d decided, failures: %s%n",
                name, decided.stream().mapToLong(LongAdder::sum).sum(), failures);
    }

    private static void call(
            RedissonBackend backend,
            int caller,
            Map<Reason, LongAdder> failures,
            LongAdder decided,
            AtomicBoolean ended) {
        while (!ended.get()) {
            try {
                backend.acquire(List.of(TestBackend.charge("k.cold" + caller, 1, FaultCalls.LIMIT)));
                decided.increment();
            } catch (BackendException e) {
                failures.get(e.reason()).increment();
                LockSupport.parkNanos(1_000_000);
            }
        }
    }
}
