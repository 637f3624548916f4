// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls after Redis has lost the scripts by a restart or {@code SCRIPT FLUSH}. */
@Tag("fault")
class LostScriptTest {
    private static final Limit LIMIT = Limit.of(Algorithm.SLIDING_WINDOW, 1_000_000, Duration.ofHours(1));

    private final RedisProcess process = RedisProcess.started();
    private final TestBackend fixture = TestBackend.on(process.address());
    private final RedisConnection redis = process.connect();

    @BeforeEach
    void connect() {
        fixture.ready();
    }

    @AfterEach
    void disconnect() {
        fixture.close();
        redis.close();
        process.close();
    }

    @Test
    void sendsALostScriptAgainOnce() {
        fixture.acquire("k.a", 1, LIMIT);
        redis.call("SCRIPT", "FLUSH");
        for (int call = 0; call < 3; call++) {
            assertThat(fixture.acquire("k.a", 1, LIMIT).allowed()).isTrue();
        }
        assertThat(fixture.remaining("k.a", LIMIT)).isEqualTo(LIMIT.permits() - 4);
    }

    @Test
    void aClientOfTheBackendSendsTheSourceInOneStep() {
        RedissonBackend backend =
                SelfTestEnd.awaited(() -> new TestConfig(Map.of(RedisSettings.ADDRESS, process.address())).started());
        try {
            FaultCalls.awaitDecision(backend);
            redis.call("SCRIPT", "FLUSH");
            long digests = redis.calls("evalsha");
            long sources = redis.calls("eval");
            for (int call = 0; call < 3; call++) {
                backend.acquire(List.of(TestBackend.charge("k.a", 1, LIMIT)));
            }
            assertThat(redis.calls("eval") - sources).isEqualTo(1);
            assertThat(redis.calls("evalsha") - digests).isEqualTo(3);
            assertThat(backend.peek(List.of(TestBackend.charge("k.a", 1, LIMIT)))
                            .get(0)
                            .remaining())
                    .isEqualTo(LIMIT.permits() - 3);
        } finally {
            backend.close();
        }
    }

    @Test
    void aLostScriptIsNotSentAgainAfterTheDeadline() {
        try (TestBackend hurried =
                TestBackend.on(process.address(), FaultCalls.DEADLINE).ready()) {
            redis.call("SCRIPT", "FLUSH");
            process.pause();
            Charge charge = TestBackend.charge("k.a", 1, LIMIT);
            assertThat(catchThrowableOfType(
                            BackendException.class, () -> hurried.backend().acquire(List.of(charge))))
                    .extracting(BackendException::reason)
                    .isEqualTo(Reason.TIMEOUT);
            process.resume();
            Await.until(
                    "Redis answers the late command",
                    Duration.ofSeconds(10),
                    () -> redis.text("INFO", "errorstats").contains("errorstat_NOSCRIPT"));
            FaultCalls.awaitDecision(hurried.backend());
            assertThat(FaultCalls.spent(hurried.backend(), charge)).isZero();
        }
    }

    @Test
    void sendsTheLostScriptForRefundsAgain() {
        Decision.Allowed allowed = (Decision.Allowed) fixture.acquire("k.a", 3, LIMIT);
        redis.call("SCRIPT", "FLUSH");
        fixture.backend().refund(allowed.receipt()).toCompletableFuture().join();
        assertThat(fixture.remaining("k.a", LIMIT)).isEqualTo(LIMIT.permits());
    }

    @Test
    void callsInFlightDoNotFailAndAreChargedOnce() {
        AtomicBoolean flushing = new AtomicBoolean(true);
        AtomicIntegerArray calls = new AtomicIntegerArray(8);
        List<CompletableFuture<Void>> callers = IntStream.range(0, calls.length())
                .mapToObj(caller -> CompletableFuture.runAsync(
                        () -> {
                            while (flushing.get()) {
                                fixture.acquire("k.a", 1, LIMIT);
                                calls.incrementAndGet(caller);
                            }
                        },
                        task -> new Thread(task, "caller-" + caller).start()))
                .toList();
        try {
            for (int flush = 1; flush <= 30; flush++) {
                redis.call("SCRIPT", "FLUSH");
                int[] before =
                        IntStream.range(0, calls.length()).map(calls::get).toArray();
                Await.until(
                        "each caller has completed a call since",
                        Duration.ofSeconds(10),
                        () -> callers.stream().anyMatch(CompletableFuture::isDone)
                                || IntStream.range(0, before.length).allMatch(i -> calls.get(i) >= before[i] + 2));
            }
        } finally {
            flushing.set(false);
        }
        callers.forEach(CompletableFuture::join);
        assertThat(fixture.remaining("k.a", LIMIT))
                .isEqualTo(LIMIT.permits()
                        - IntStream.range(0, calls.length()).map(calls::get).sum());
    }

    @Test
    void batchesAndRefundsInFlightDoNotFailAndRunOnce() {
        AtomicBoolean flushing = new AtomicBoolean(true);
        AtomicInteger spent = new AtomicInteger();
        AtomicInteger rounds = new AtomicInteger();
        List<CompletableFuture<Void>> callers = IntStream.range(0, 8)
                .mapToObj(caller -> CompletableFuture.runAsync(
                        () -> {
                            while (flushing.get()) {
                                spent.addAndGet(spendAndRefundSome());
                                rounds.incrementAndGet();
                            }
                        },
                        task -> new Thread(task, "caller-" + caller).start()))
                .toList();
        try {
            for (int flush = 1; flush <= 30; flush++) {
                assertThat(redis.call("SCRIPT", "EXISTS", Script.ACQUIRE.digest(), Script.REFUND.digest()))
                        .as("scripts that are known before flush %d", flush)
                        .isEqualTo(List.of(1L, 1L));
                redis.call("SCRIPT", "FLUSH");
                int before = rounds.get();
                Await.until(
                        "callers have completed rounds since",
                        Duration.ofSeconds(10),
                        () -> callers.stream().anyMatch(CompletableFuture::isDone)
                                || rounds.get() >= before + 2 * callers.size());
            }
        } finally {
            flushing.set(false);
        }
        callers.forEach(CompletableFuture::join);
        assertThat(fixture.remaining("k.a", LIMIT)).isEqualTo(LIMIT.permits() - spent.get());
    }

    /** Spends 32 permits with asynchronous calls and refunds a quarter of them, by receipt or by cost. */
    private int spendAndRefundSome() {
        List<CompletableFuture<Decision>> calls = IntStream.range(0, 32)
                .mapToObj(call -> fixture.backend()
                        .acquireAsync(List.of(TestBackend.charge("k.a", 1, LIMIT)))
                        .toCompletableFuture())
                .toList();
        List<Decision> decisions = calls.stream().map(CompletableFuture::join).toList();
        for (int call = 0; call < 6; call++) {
            fixture.backend()
                    .refund(((Decision.Allowed) decisions.get(call)).receipt())
                    .toCompletableFuture()
                    .join();
        }
        fixture.backend()
                .refund(TestBackend.charge("k.a", 2, LIMIT))
                .toCompletableFuture()
                .join();
        return 24;
    }

    @Test
    void asynchronousCallsLoadTheScriptAgain() {
        redis.call("SCRIPT", "FLUSH");
        assertThat(fixture.backend()
                        .acquireAsync(List.of(TestBackend.charge("k.a", 1, LIMIT)))
                        .toCompletableFuture()
                        .join()
                        .allowed())
                .isTrue();
    }
}
