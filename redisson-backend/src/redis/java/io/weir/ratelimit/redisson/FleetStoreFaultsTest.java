// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.operations.ChangeStoreContract;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Reports of instances and runtime changes while Redis is stopped, paused, or lacks a right. */
@Tag("fault")
class FleetStoreFaultsTest {
    private static RedissonBackend backend(RedisProcess redis, String address) {
        RedissonBackend backend = new TestConfig(Map.of(
                        RedisSettings.ADDRESS,
                        address,
                        "ratelimit.redis.deadline",
                        "100ms",
                        "CircuitBreaker/enabled",
                        "true"))
                .started();
        Await.until(
                "the backend is ready",
                Duration.ofSeconds(20),
                () -> backend.status().initialized());
        return backend;
    }

    private static CompletableFuture<?> report(FleetStore store) {
        return store.report("a1", "content".getBytes(UTF_8), Map.of(7L, "1 0 *\n".getBytes(UTF_8)))
                .toCompletableFuture();
    }

    private static Reason failure(CompletableFuture<?> stage) throws Exception {
        try {
            stage.get(20, TimeUnit.SECONDS);
            return null;
        } catch (ExecutionException e) {
            return ((BackendException) e.getCause()).reason();
        } catch (TimeoutException e) {
            throw new AssertionError("never completed", e);
        }
    }

    @Test
    @Tag("ci")
    void aPausedRedisFailsReportsAndDoesNotOpenTheBreaker() throws Exception {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = backend(redis, redis.address());
            FleetStore store = backend.capability(FleetStore.class).orElseThrow();
            assertThat(failure(report(store))).isNull();
            redis.pause();
            for (int i = 0; i < 10; i++) {
                assertThat(failure(report(store))).isEqualTo(Reason.TIMEOUT);
            }
            assertThat(backend.status().breakerOpen()).isFalse();
            redis.resume();
            Await.until("a report is stored", Duration.ofSeconds(20), () -> {
                try {
                    return failure(report(store)) == null;
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            backend.close();
        }
    }

    @Test
    void anOpenBreakerEndsReportsAtOnce() throws Exception {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = backend(redis, redis.address());
            FleetStore store = backend.capability(FleetStore.class).orElseThrow();
            assertThat(failure(report(store))).isNull();
            redis.pause();
            FaultCalls.awaitFailure(backend, Reason.BREAKER_OPEN);
            CompletableFuture<?> report = report(store);
            assertThat(report).isDone();
            assertThat(failure(report)).isEqualTo(Reason.BREAKER_OPEN);
            assertThat(failure(store.reports().toCompletableFuture())).isEqualTo(Reason.BREAKER_OPEN);
            CompletableFuture<?> presence = present(backend);
            assertThat(presence).isDone();
            assertThat(failure(presence)).isEqualTo(Reason.BREAKER_OPEN);
            ChangeStore changes = backend.capability(ChangeStore.class).orElseThrow();
            assertThat(failure(changes.read("").toCompletableFuture())).isEqualTo(Reason.BREAKER_OPEN);
            assertThat(failure(change(changes, "", 1))).isEqualTo(Reason.BREAKER_OPEN);
            redis.resume();
            backend.close();
        }
    }

    @Test
    void anInstanceWithoutCallsReportsChangesAndSettlesAfterAnOutage() throws Exception {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = backend(redis, redis.address());
            FleetStore store = backend.capability(FleetStore.class).orElseThrow();
            ChangeStore changes = backend.capability(ChangeStore.class).orElseThrow();
            FaultCalls.awaitDecision(backend);
            Limit limit = Limit.of(Algorithm.FIXED_WINDOW, 1_000, Duration.ofDays(1));
            Charge reserved = TestBackend.charge("k.reserved", 100, limit);
            Receipt receipt = backend.acquire(List.of(reserved)).receipt();
            redis.pause();
            FaultCalls.awaitFailure(backend, Reason.BREAKER_OPEN);
            redis.resume();
            Await.until(
                    "the breaker closes without a call",
                    Duration.ofSeconds(20),
                    () -> !backend.status().breakerOpen());
            assertThat(failure(report(store))).isNull();
            assertThat(failure(change(changes, "", 1))).isNull();
            assertThat(failure(changes.read("").toCompletableFuture())).isNull();
            assertThat(failure(backend.settle(receipt, charge -> true, 10).toCompletableFuture()))
                    .isNull();
            assertThat(FaultCalls.spent(backend, reserved)).isEqualTo(10);
            backend.close();
        }
    }

    @Test
    void aKilledRedisFailsReportsUntilItIsBack() throws Exception {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = backend(redis, redis.address());
            FleetStore store = backend.capability(FleetStore.class).orElseThrow();
            redis.kill();
            assertThat(failure(report(store))).isNotNull();
            redis.start();
            Await.until("a report is stored", Duration.ofSeconds(20), () -> {
                try {
                    return failure(report(store)) == null;
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(store.reports().toCompletableFuture().get(5, TimeUnit.SECONDS))
                    .hasSize(1);
            backend.close();
        }
    }

    @Test
    void aMissingRightFailsReportsOnly() throws Exception {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect()) {
            admin.call((Object[])
                    DocumentedUser.line().replace(" ~weir:1:fleet:*", "").split(" "));
            RedissonBackend backend = backend(redis, DocumentedUser.address(redis));
            assertThat(failure(report(backend.capability(FleetStore.class).orElseThrow())))
                    .isEqualTo(Reason.BACKEND_ERROR);
            assertThat(backend.acquire(List.of(TestBackend.charge("k.a", 1, FaultCalls.LIMIT)))
                            .allowed())
                    .isTrue();
            assertThat(failure(present(backend))).isNull();
            backend.close();
        }
    }

    private static CompletableFuture<?> present(RedissonBackend backend) {
        return backend.capability(FleetStore.Presence.class)
                .orElseThrow()
                .present("a1")
                .toCompletableFuture();
    }

    private static CompletableFuture<Boolean> change(ChangeStore store, String expected, int number) {
        return store.replace(expected, (number + "-1\nstate").getBytes(UTF_8), "entry".getBytes(UTF_8))
                .toCompletableFuture();
    }

    @Test
    void aKilledRedisFailsRuntimeChangesUntilItIsBackWithoutThem() throws Exception {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = backend(redis, redis.address());
            ChangeStore store = backend.capability(ChangeStore.class).orElseThrow();
            assertThat(change(store, "", 1).get(20, TimeUnit.SECONDS)).isTrue();
            redis.kill();
            assertThat(failure(store.read("1-1").toCompletableFuture())).isNotNull();
            assertThat(failure(change(store, "1-1", 2))).isNotNull();
            redis.start();
            Await.until("Redis answers", Duration.ofSeconds(20), () -> {
                try {
                    return failure(store.read("1-1").toCompletableFuture()) == null;
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(store.read("1-1").toCompletableFuture().join().tag()).isEmpty();
            backend.close();
        }
    }

    @Test
    void aMissingRightFailsRuntimeChangesOnly() throws Exception {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect()) {
            admin.call((Object[])
                    DocumentedUser.line().replace(" ~weir:1:changes:*", "").split(" "));
            RedissonBackend backend = backend(redis, DocumentedUser.address(redis));
            assertThat(failure(change(backend.capability(ChangeStore.class).orElseThrow(), "", 1)))
                    .isEqualTo(Reason.BACKEND_ERROR);
            assertThat(backend.acquire(List.of(TestBackend.charge("k.a", 1, FaultCalls.LIMIT)))
                            .allowed())
                    .isTrue();
            backend.close();
        }
    }

    @Test
    void theDocumentedRightsSufficeForRuntimeChanges() throws Exception {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect()) {
            admin.call((Object[]) DocumentedUser.line().split(" "));
            RedissonBackend backend = backend(redis, DocumentedUser.address(redis));
            ChangeStoreContract.keepsTheLastState(
                    backend.capability(ChangeStore.class).orElseThrow());
            backend.close();
        }
    }
}
