// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What Redis and callers notice of an open breaker, counted on the way between them. */
class BreakerFaultsTest {
    private static final int CALLERS = 64;
    private static final String LOADING = "LOADING Redis is loading the dataset in memory";

    private final RedisProcess redis = RedisProcess.started();
    private final FaultProxy way = FaultProxy.before(redis);
    private RedissonBackend backend;

    @AfterEach
    void disconnect() {
        backend.close();
        way.close();
        redis.close();
    }

    private void start(String delayMillis, String deadline) {
        backend = new TestConfig(Map.of(
                        RedisSettings.ADDRESS,
                        way.address(),
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

    private void open() {
        Await.until("the breaker opens", Duration.ofSeconds(10), () -> reason(false) == Reason.BREAKER_OPEN);
    }

    /** Why a call failed, null if it was decided. */
    private Reason reason(boolean asStage) {
        List<Charge> charges = List.of(TestStore.charge("k.breaker", 1, FaultCalls.LIMIT));
        try {
            Decision decision = asStage
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

    /** All callers at the same instant, every other one for a stage. */
    private List<Reason> atOnce() {
        CyclicBarrier start = new CyclicBarrier(CALLERS);
        ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
        try {
            List<Future<Reason>> callers = new ArrayList<>();
            for (int caller = 0; caller < CALLERS; caller++) {
                boolean asStage = caller % 2 == 1;
                callers.add(threads.submit(() -> {
                    start.await();
                    return reason(asStage);
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

    /** Of a Redis that is not back: one who calls after a pause of the machine is the probe himself. */
    private void awaitProbe() {
        // Whoever calls next hears how the last probe ended, and the delay begins.
        Await.until("the breaker is open", Duration.ofSeconds(10), () -> reason(false) == Reason.BREAKER_OPEN);
        Await.until(
                "a probe is due",
                Duration.ofSeconds(10),
                () -> backend.status().untilProbe().isZero());
    }

    @Test
    void anOpenBreakerAnswersAtOnceAndRedisSeesNoScript() {
        start("30000", "100ms");
        redis.pause();
        open();
        long before = way.scripts();
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
        assertThat(way.scripts()).isEqualTo(before);
    }

    @Test
    void ofManyCallersWhenAProbeIsDueOneAsksARedisThatIsStillStopped() {
        start("1000", "1s");
        redis.pause();
        open();
        for (int probe = 0; probe < 3; probe++) {
            awaitProbe();
            long before = way.scripts();
            assertThat(atOnce().stream().filter(Reason.BREAKER_OPEN::equals)).hasSize(CALLERS - 1);
            // None if there is no connection any more to send it on.
            assertThat(way.scripts() - before).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void whoseProbeIsLateBeginsTheDelayAnew() {
        start("5000", "100ms");
        redis.pause();
        open();
        awaitProbe();
        assertThat(reason(false)).isEqualTo(Reason.TIMEOUT);
        assertThat(backend.status().untilProbe()).isPositive();
    }

    @Test
    void ofManyCallersWhenAProbeIsDueOneAsksARedisThatStillRefuses() {
        start("1000", "1s");
        way.answerScripts(LOADING);
        open();
        for (int probe = 0; probe < 5; probe++) {
            awaitProbe();
            long before = way.scripts();
            List<Reason> reasons = atOnce();
            assertThat(reasons).containsOnlyOnce(Reason.REFUSED);
            assertThat(reasons.stream().filter(Reason.BREAKER_OPEN::equals)).hasSize(CALLERS - 1);
            assertThat(way.scripts() - before).isEqualTo(1);
        }
    }

    @Test
    void ofManyCallersWhenAProbeIsDueOneAsksARedisThatIsBackAndGoesOn() {
        start("300", "10s");
        way.answerScripts(LOADING);
        open();
        awaitProbe();
        way.open();
        // So that nobody finds the breaker closed already.
        way.delay(Duration.ofMillis(400));
        long before = way.scripts();
        List<Reason> reasons = atOnce();
        assertThat(reasons).containsOnlyOnce((Reason) null);
        assertThat(reasons.stream().filter(Reason.BREAKER_OPEN::equals)).hasSize(CALLERS - 1);
        assertThat(way.scripts() - before).as("the probe, and the decision").isEqualTo(2);
        assertThat(atOnce()).containsOnlyNulls();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whoeverFindsOutThatRedisIsBackIsDecidedByIt(boolean asStage) {
        start("300", "1s");
        way.answerScripts(LOADING);
        open();
        awaitProbe();
        way.open();
        assertThat(reason(asStage)).isNull();
        assertThat(reason(asStage)).isNull();
        assertThat(backend.status().breakerOpen()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRedisThatAnswersAndTakesNothingIsNotBack(boolean asStage) {
        start("300", "1s");
        try (RedisConnection admin = redis.connect()) {
            admin.call("CONFIG", "SET", "maxmemory", 1);
            open();
            for (int probe = 0; probe < 3; probe++) {
                awaitProbe();
                long before = way.scripts();
                assertThat(reason(asStage)).isEqualTo(Reason.REFUSED);
                assertThat(way.scripts() - before)
                        .as("the probe, and no decision")
                        .isEqualTo(1);
            }
            awaitProbe();
            admin.call("CONFIG", "SET", "maxmemory", 0);
        }
        assertThat(reason(asStage)).isNull();
        assertThat(reason(asStage)).isNull();
        assertThat(backend.status().breakerOpen()).isFalse();
    }

    @Test
    void aProbeSpendsNoPermitOfItsCallAndLeavesNothing() {
        start("300", "1s");
        way.answerScripts(LOADING);
        open();
        awaitProbe();
        way.open();
        List<Quota> before;
        try (RedisConnection admin = redis.connect()) {
            admin.call("FLUSHALL");
            before = backend.peek(TestStore.charge("k.breaker", 1, FaultCalls.LIMIT));
            assertThat(before.get(0).remaining()).isEqualTo(FaultCalls.LIMIT.permits());
            Await.until(
                    "the probe's key has expired",
                    Duration.ofSeconds(10),
                    () -> admin.keys("*").isEmpty());
        }
    }

    @Test
    void aCallerWhoIsInterruptedWhileHeProbesLeavesTheAnswerToDecide() throws InterruptedException {
        start("300", "10s");
        way.answerScripts(LOADING);
        open();
        awaitProbe();
        way.open();
        way.delay(Duration.ofMillis(300));
        AtomicReference<Reason> told = new AtomicReference<>();
        Thread caller = new Thread(() -> told.set(reason(false)));
        long before = way.scripts();
        caller.start();
        Await.until("the probe is on its way", Duration.ofSeconds(10), () -> way.scripts() > before);
        caller.interrupt();
        caller.join();
        assertThat(told).hasValue(Reason.TIMEOUT);
        Await.until("the answer closes the breaker", Duration.ofSeconds(10), () -> reason(false) == null);
        assertThat(way.scripts() - before).as("the probe, and the decision").isEqualTo(2);
    }
}
