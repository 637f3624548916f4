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
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.config.Config;

/** Effects of an open breaker on Redis and on callers, with a proxy that counts scripts. */
@Tag("fault")
class BreakerFaultsTest {
    private static final int CALLERS = 64;
    private static final String LOADING = "LOADING Redis is loading the dataset in memory";

    /** A time after which no call of this test ends. */
    private static final Duration LONG = Duration.ofSeconds(60);

    private static final BreakerSettings SETTINGS =
            new BreakerSettings(true, 5, Duration.ofSeconds(30), 1, Duration.ofSeconds(30));

    private final RedisProcess redis = RedisProcess.started();
    private final FaultProxy proxy = FaultProxy.inFrontOf(redis);

    /** The clock of the breaker, so that a delay passes when the test says so. */
    private final AtomicLong nanos = new AtomicLong();

    /** The timer of the prober. */
    private final ManualTimer timer = new ManualTimer();

    private RedissonBackend backend;

    @AfterEach
    void disconnect() {
        backend.close();
        proxy.close();
        redis.close();
    }

    private void start(Duration deadline) {
        Config client = RedisSettings.read(
                        new TestConfig(Map.of(RedisSettings.ADDRESS, proxy.address())).properties(), false)
                .client()
                .orElseThrow();
        backend = new RedissonBackend(
                new RedisClient(() -> Redisson.create(client), true, "test", deadline),
                "test",
                deadline,
                ScriptSender.REDIS_CLOCK,
                new Breaker(SETTINGS, Breaker.Platform.NONE, nanos::get, (requests, waitingKeys) -> {}),
                timer);
        Await.until("the backend decides", LONG, () -> {
            passDelay();
            return reason(false) == null;
        });
        // The first second of the connection passes as well.
        passDelay();
    }

    private void passDelay() {
        nanos.addAndGet(SETTINGS.delay().toNanos());
        timer.run();
    }

    private void openBreaker() {
        Await.until("the breaker opens", LONG, () -> reason(false) == Reason.BREAKER_OPEN);
    }

    /** Calls, and returns the reason of the failure; null if there was a decision. */
    private Reason reason(boolean async) {
        List<Charge> charges = List.of(TestBackend.charge("k.breaker", 1, FaultCalls.LIMIT));
        try {
            Decision decision = async
                    ? backend.acquireAsync(charges).toCompletableFuture().get(LONG.toSeconds(), TimeUnit.SECONDS)
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

    /** Starts callers at the same instant, every other one asynchronous. */
    private List<CompletableFuture<Reason>> callers() {
        CyclicBarrier start = new CyclicBarrier(CALLERS);
        return IntStream.range(0, CALLERS)
                .mapToObj(caller -> CompletableFuture.supplyAsync(
                        () -> {
                            await(start);
                            return reason(caller % 2 == 1);
                        },
                        task -> new Thread(task, "caller-" + caller).start()))
                .toList();
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new AssertionError(e);
        }
    }

    private List<Reason> reasonsOfAll() {
        return callers().stream().map(CompletableFuture::join).toList();
    }

    /** Lets the delay pass, and waits until the probe has failed. */
    private void failProbe() {
        passDelay();
        Await.until("the probe fails", LONG, () -> backend.status().probeAfter().equals(SETTINGS.delay()));
    }

    private void awaitClosed() {
        Await.until("the breaker closes", LONG, () -> !backend.status().breakerOpen());
    }

    @Test
    void anOpenBreakerFailsCallsAtOnceWithoutAScript() {
        start(LONG);
        proxy.failScripts(LOADING);
        openBreaker();
        redis.pause();
        long before = proxy.scripts();
        long[] total = new long[1_000];
        long[] own = new long[total.length];
        for (int call = 0; call < total.length; call++) {
            Stopwatch watch = Stopwatch.started();
            assertThat(reason(call % 2 == 1)).isEqualTo(Reason.BREAKER_OPEN);
            total[call] = System.nanoTime() - watch.startNanos();
            own[call] = watch.elapsed().toNanos();
        }
        Arrays.sort(total);
        System.out.printf(
                "breaker open: median %s, p99 %s, longest %s ms of %d calls%n",
                FaultTable.millis(FaultTable.percentile(total, 50)),
                FaultTable.millis(FaultTable.percentile(total, 99)),
                FaultTable.millis(total[total.length - 1]),
                total.length);
        Arrays.sort(own);
        assertThat(Duration.ofNanos(FaultTable.percentile(own, 99))).isLessThan(Duration.ofMillis(5));
        assertThat(proxy.scripts()).isEqualTo(before);
    }

    @Test
    void oneProbePerDelayReachesAStoppedRedisAndNoCallerWaits() {
        start(FaultCalls.DEADLINE);
        redis.pause();
        openBreaker();
        for (int probe = 0; probe < 3; probe++) {
            long before = proxy.scripts();
            passDelay();
            assertThat(reasonsOfAll()).containsOnly(Reason.BREAKER_OPEN);
            Await.until(
                    "the probe fails", LONG, () -> backend.status().probeAfter().equals(SETTINGS.delay()));
            // There is no script if there is no connection any more.
            assertThat(proxy.scripts() - before).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void oneProbePerDelayReachesARedisThatReturnsErrors() {
        start(LONG);
        proxy.failScripts(LOADING);
        openBreaker();
        for (int probe = 0; probe < 5; probe++) {
            long before = proxy.scripts();
            failProbe();
            assertThat(reasonsOfAll()).containsOnly(Reason.BREAKER_OPEN);
            assertThat(proxy.scripts() - before).isEqualTo(1);
        }
    }

    @Test
    void aProbeClosesTheBreakerWithoutACall() {
        start(LONG);
        proxy.failScripts(LOADING);
        openBreaker();
        proxy.forward();
        long before = proxy.scripts();
        passDelay();
        awaitClosed();
        assertThat(proxy.scripts() - before).isEqualTo(1);
        assertThat(reasonsOfAll()).containsOnlyNulls();
        assertThat(timer.waiting()).as("timers of a closed breaker").isZero();
    }

    /** With the delay, and the time in which dead connections are found, this bounds the recovery. */
    @Tag("ci")
    @Test
    void theFirstProbeAfterTheLastDeadConnectionSucceeds() {
        start(Duration.ofSeconds(5));
        proxy.failScripts(LOADING);
        openBreaker();
        proxy.blackhole();
        // The first one is on a connection from before the fault. Then there is none, and the next one opens a
        // connection.
        failProbe();
        failProbe();
        proxy.forward();
        Await.until("dead connections are closed", LONG, () -> proxy.blackholedConnections() == 0);
        passDelay();
        awaitClosed();
        assertThat(reasonsOfAll()).containsOnlyNulls();
    }

    @Test
    void noCallWaitsForTheProbe() {
        start(LONG);
        proxy.failScripts(LOADING);
        openBreaker();
        proxy.forward();
        redis.pause();
        long before = proxy.scripts();
        passDelay();
        assertThat(reasonsOfAll()).containsOnly(Reason.BREAKER_OPEN);
        redis.resume();
        awaitClosed();
        assertThat(proxy.scripts() - before).isEqualTo(1);
        assertThat(reasonsOfAll()).containsOnlyNulls();
    }

    @Test
    void aRedisThatRejectsWritesKeepsTheBreakerOpen() {
        start(LONG);
        try (RedisConnection admin = redis.connect()) {
            admin.call("CONFIG", "SET", "maxmemory", 1);
            openBreaker();
            for (int probe = 0; probe < 3; probe++) {
                long before = proxy.scripts();
                failProbe();
                assertThat(reason(probe % 2 == 0)).isEqualTo(Reason.BREAKER_OPEN);
                assertThat(proxy.scripts() - before)
                        .as("the probe, and no decision")
                        .isEqualTo(1);
            }
            admin.call("CONFIG", "SET", "maxmemory", 0);
        }
        passDelay();
        awaitClosed();
        assertThat(reason(false)).isNull();
        assertThat(reason(true)).isNull();
    }

    @Test
    void aProbeSpendsNoPermitAndItsKeyExpires() {
        start(LONG);
        proxy.failScripts(LOADING);
        openBreaker();
        proxy.forward();
        List<Quota> before;
        try (RedisConnection admin = redis.connect()) {
            admin.call("FLUSHALL");
            passDelay();
            awaitClosed();
            before = backend.peek(List.of(TestBackend.charge("k.breaker", 1, FaultCalls.LIMIT)));
            assertThat(before.get(0).remaining()).isEqualTo(FaultCalls.LIMIT.permits());
            Await.until(
                    "the probe's key has expired", LONG, () -> admin.keys("*").isEmpty());
        }
    }
}
