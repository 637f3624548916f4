// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.Stopwatch;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Effects of an open breaker on Redis and on callers, with a proxy that counts scripts. */
@Tag("fault")
class BreakerFaultsTest {
    private static final int CALLERS = 64;
    private static final String LOADING = "LOADING Redis is loading the dataset in memory";

    private final RedisProcess redis = RedisProcess.started();
    private final FaultProxy proxy = FaultProxy.inFrontOf(redis);
    private RedissonBackend backend;

    @AfterEach
    void disconnect() {
        backend.close();
        proxy.close();
        redis.close();
    }

    private void start(String delayMillis, String deadline) {
        backend = new TestConfig(Map.of(
                        RedisSettings.ADDRESS,
                        proxy.address(),
                        "ratelimit.redis.deadline",
                        deadline,
                        "CircuitBreaker/enabled",
                        "true",
                        "CircuitBreaker/delay",
                        delayMillis,
                        "CircuitBreaker/delayUnit",
                        "MILLIS"))
                .started();
        FaultCalls.awaitDecision(backend);
    }

    private void openBreaker() {
        Await.until("the breaker opens", Duration.ofSeconds(10), () -> reason(false) == Reason.BREAKER_OPEN);
    }

    /** Calls, and returns the reason of the failure; null if there was a decision. */
    private Reason reason(boolean async) {
        List<Charge> charges = List.of(TestBackend.charge("k.breaker", 1, FaultCalls.LIMIT));
        try {
            Decision decision = async
                    ? backend.acquireAsync(charges).toCompletableFuture().get(10, TimeUnit.SECONDS)
                    : backend.acquire(charges);
            assertThat(decision.allowed()).isTrue();
            return null;
        } catch (BackendException e) {
            return e.reason();
        } catch (ExecutionException e) {
            return ((BackendException) e.getCause()).reason();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Calls from all threads at the same instant, every other one asynchronously. */
    private List<Reason> reasonsOfAll() {
        CyclicBarrier start = new CyclicBarrier(CALLERS);
        ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
        try {
            List<Future<Reason>> callers = new ArrayList<>();
            for (int caller = 0; caller < CALLERS; caller++) {
                boolean async = caller % 2 == 1;
                callers.add(threads.submit(() -> {
                    start.await();
                    return reason(async);
                }));
            }
            List<Reason> reasons = new ArrayList<>();
            for (Future<Reason> caller : callers) {
                reasons.add(caller.get());
            }
            return reasons;
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        } finally {
            threads.shutdownNow();
        }
    }

    /** Waits until a probe is due. Redis must be unavailable: after a pause of the machine, a call of this method may be the probe. */
    private void awaitProbe() {
        // The next call reports the outcome of the last probe, and the delay begins.
        Await.until("the breaker is open", Duration.ofSeconds(10), () -> reason(false) == Reason.BREAKER_OPEN);
        Await.until(
                "a probe is due",
                Duration.ofSeconds(10),
                () -> backend.status().probeAfter().isZero());
    }

    @Test
    void anOpenBreakerFailsCallsAtOnceWithoutAScript() {
        start("30000", "100ms");
        redis.pause();
        openBreaker();
        long before = proxy.scripts();
        long[] nanos = new long[1_000];
        long[] quiet = new long[nanos.length];
        Stopwatch.started();
        for (int call = 0; call < nanos.length; call++) {
            long start = System.nanoTime();
            assertThat(reason(call % 2 == 1)).isEqualTo(Reason.BREAKER_OPEN);
            nanos[call] = System.nanoTime() - start;
            quiet[call] = Stopwatch.between(start, start + nanos[call]).toNanos();
        }
        Arrays.sort(nanos);
        System.out.printf(
                "breaker open: median %s, p99 %s, longest %s ms of %d calls%n",
                FaultTable.millis(FaultTable.percentile(nanos, 50)),
                FaultTable.millis(FaultTable.percentile(nanos, 99)),
                FaultTable.millis(nanos[nanos.length - 1]),
                nanos.length);
        Arrays.sort(quiet);
        assertThat(Duration.ofNanos(FaultTable.percentile(quiet, 99))).isLessThan(Duration.ofMillis(5));
        assertThat(proxy.scripts()).isEqualTo(before);
    }

    @Test
    void oneOfManyCallersProbesAStoppedRedis() {
        start("1000", "1s");
        redis.pause();
        openBreaker();
        for (int probe = 0; probe < 3; probe++) {
            awaitProbe();
            long before = proxy.scripts();
            assertThat(reasonsOfAll().stream().filter(Reason.BREAKER_OPEN::equals))
                    .hasSize(CALLERS - 1);
            // There is no script if there is no connection any more.
            assertThat(proxy.scripts() - before).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void aProbeThatTimesOutStartsTheDelayAnew() {
        start("5000", "100ms");
        redis.pause();
        openBreaker();
        awaitProbe();
        assertThat(reason(false)).isEqualTo(Reason.TIMEOUT);
        assertThat(backend.status().probeAfter()).isPositive();
    }

    @Test
    void oneOfManyCallersProbesARedisThatReturnsErrors() {
        start("1000", "1s");
        proxy.failScripts(LOADING);
        openBreaker();
        for (int probe = 0; probe < 5; probe++) {
            awaitProbe();
            long before = proxy.scripts();
            List<Reason> reasons = reasonsOfAll();
            assertThat(reasons).containsOnlyOnce(Reason.BACKEND_ERROR);
            assertThat(reasons.stream().filter(Reason.BREAKER_OPEN::equals)).hasSize(CALLERS - 1);
            assertThat(proxy.scripts() - before).isEqualTo(1);
        }
    }

    @Test
    void oneOfManyCallersProbesARedisThatIsAvailableAgain() {
        start("300", "10s");
        proxy.failScripts(LOADING);
        openBreaker();
        awaitProbe();
        proxy.forward();
        // The delay keeps the breaker open until all callers have called.
        proxy.delay(Duration.ofMillis(400));
        long before = proxy.scripts();
        List<Reason> reasons = reasonsOfAll();
        assertThat(reasons).containsOnlyOnce((Reason) null);
        assertThat(reasons.stream().filter(Reason.BREAKER_OPEN::equals)).hasSize(CALLERS - 1);
        assertThat(proxy.scripts() - before).as("the probe, and the decision").isEqualTo(2);
        assertThat(reasonsOfAll()).containsOnlyNulls();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theCallThatProbesIsDecidedByRedis(boolean async) {
        start("300", "1s");
        proxy.failScripts(LOADING);
        openBreaker();
        awaitProbe();
        proxy.forward();
        assertThat(reason(async)).isNull();
        assertThat(reason(async)).isNull();
        assertThat(backend.status().breakerOpen()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRedisThatRejectsWritesKeepsTheBreakerOpen(boolean async) {
        start("300", "1s");
        try (RedisConnection admin = redis.connect()) {
            admin.call("CONFIG", "SET", "maxmemory", 1);
            openBreaker();
            for (int probe = 0; probe < 3; probe++) {
                awaitProbe();
                long before = proxy.scripts();
                assertThat(reason(async)).isEqualTo(Reason.BACKEND_ERROR);
                assertThat(proxy.scripts() - before)
                        .as("the probe, and no decision")
                        .isEqualTo(1);
            }
            awaitProbe();
            admin.call("CONFIG", "SET", "maxmemory", 0);
        }
        assertThat(reason(async)).isNull();
        assertThat(reason(async)).isNull();
        assertThat(backend.status().breakerOpen()).isFalse();
    }

    @Test
    void aProbeSpendsNoPermitAndItsKeyExpires() {
        start("300", "1s");
        proxy.failScripts(LOADING);
        openBreaker();
        awaitProbe();
        proxy.forward();
        List<Quota> before;
        try (RedisConnection admin = redis.connect()) {
            admin.call("FLUSHALL");
            before = backend.peek(TestBackend.charge("k.breaker", 1, FaultCalls.LIMIT));
            assertThat(before.get(0).remaining()).isEqualTo(FaultCalls.LIMIT.permits());
            Await.until(
                    "the probe's key has expired",
                    Duration.ofSeconds(10),
                    () -> admin.keys("*").isEmpty());
        }
    }

    @Test
    void theProbeOfAnInterruptedCallerContinues() throws InterruptedException {
        start("300", "10s");
        proxy.failScripts(LOADING);
        openBreaker();
        awaitProbe();
        proxy.forward();
        proxy.delay(Duration.ofMillis(300));
        AtomicReference<Reason> interrupted = new AtomicReference<>();
        Thread caller = new Thread(() -> interrupted.set(reason(false)));
        long before = proxy.scripts();
        caller.start();
        Await.until("the probe is sent", Duration.ofSeconds(10), () -> proxy.scripts() > before);
        caller.interrupt();
        caller.join();
        assertThat(interrupted).hasValue(Reason.TIMEOUT);
        Await.until("the probe closes the breaker", Duration.ofSeconds(10), () -> reason(false) == null);
        assertThat(proxy.scripts() - before).as("the probe, and the decision").isEqualTo(2);
    }
}
