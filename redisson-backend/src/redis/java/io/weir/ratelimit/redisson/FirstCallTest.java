// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.Stopwatch;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Duration of calls while Redis is stopped, from the first call of a backend on. */
@Tag("fault")
class FirstCallTest {
    private static final int BACKENDS = 10;
    private static final int CALLS = 10;

    @ParameterizedTest(name = "connected before: {0}")
    @ValueSource(booleans = {true, false})
    void theFirstCallsOnAStoppedRedisTakeOneDeadlineEach(boolean connected) {
        long[] nanos = new long[BACKENDS * CALLS];
        long[] first = new long[BACKENDS];
        List<Duration> counted = Collections.synchronizedList(new ArrayList<>());
        List<RedissonBackend> backends = new ArrayList<>();
        loadClasses();
        try (RedisProcess redis = RedisProcess.started()) {
            if (connected) {
                startAll(redis, backends);
                backends.forEach(FaultCalls::awaitDecision);
            }
            redis.pause();
            if (!connected) {
                startAll(redis, backends);
            }
            List<CompletableFuture<Void>> callers = IntStream.range(0, BACKENDS)
                    .mapToObj(number -> CompletableFuture.runAsync(
                            () -> {
                                for (int call = 0; call < CALLS; call++) {
                                    Stopwatch watch = Stopwatch.started();
                                    nanos[number * CALLS + call] = failing(backends.get(number));
                                    counted.add(watch.elapsed());
                                }
                                first[number] = nanos[number * CALLS];
                            },
                            task -> new Thread(task, "caller-" + number).start()))
                    .toList();
            callers.forEach(CompletableFuture::join);
            redis.resume();
        } finally {
            backends.forEach(RedissonBackend::close);
        }
        Arrays.sort(nanos);
        Arrays.sort(first);
        System.out.printf(
                "Redis stopped, %s: %d calls of %d new backends at the same time, deadline %d ms: median %s, p99 %s, longest %s ms; the first of each: median %s, longest %s ms%n",
                connected ? "after the backend has connected" : "before the backend has connected",
                nanos.length,
                BACKENDS,
                FaultCalls.DEADLINE.toMillis(),
                FaultTable.millis(FaultTable.percentile(nanos, 50)),
                FaultTable.millis(FaultTable.percentile(nanos, 99)),
                FaultTable.millis(nanos[nanos.length - 1]),
                FaultTable.millis(FaultTable.percentile(first, 50)),
                FaultTable.millis(first[first.length - 1]));
        Collections.sort(counted);
        assertThat(counted.get(counted.size() * 99 / 100 - 1)).isLessThan(FaultCalls.DEADLINE.plus(FaultCalls.MARGIN));
    }

    /**
     * Fails a call of another backend, so that all classes are loaded. A thread that waits until another one has loaded a class waits for
     * the processor of that thread, which its stopwatch does not exclude.
     */
    private static void loadClasses() {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = start(redis);
            FaultCalls.awaitDecision(backend);
            redis.pause();
            failing(backend);
            backend.close();
        }
    }

    private static void startAll(RedisProcess redis, List<RedissonBackend> backends) {
        for (int number = 0; number < BACKENDS; number++) {
            backends.add(start(redis));
        }
    }

    private static RedissonBackend start(RedisProcess redis) {
        return new TestConfig(Map.of(RedisSettings.ADDRESS, redis.address()))
                .withDeadline(FaultCalls.DEADLINE)
                .started();
    }

    private static long failing(RedissonBackend backend) {
        long start = System.nanoTime();
        try {
            throw new AssertionError(
                    "decided " + backend.acquire(List.of(TestBackend.charge("k.first", 1, FaultCalls.LIMIT))));
        } catch (BackendException e) {
            return System.nanoTime() - start;
        }
    }
}
