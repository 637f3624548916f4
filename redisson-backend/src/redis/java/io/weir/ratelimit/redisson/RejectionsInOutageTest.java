// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.tck.TestedBackend;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers over their limit stay rejected while Redis is killed, until the end of their rejection. */
@Tag("fault")
class RejectionsInOutageTest {
    private static final Limit LONG = Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofHours(1));
    private static final Limit SHORT = Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofSeconds(6));
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private static RedissonBackend started(RedisProcess redis, boolean breaker) {
        return started(redis.address(), breaker);
    }

    private static RedissonBackend started(String address, boolean breaker) {
        RedissonBackend backend = new TestConfig(
                        Map.of(RedisSettings.ADDRESS, address, "CircuitBreaker/enabled", String.valueOf(breaker)))
                .withDeadline(FaultCalls.DEADLINE)
                .started();
        FaultCalls.awaitDecision(backend);
        return backend;
    }

    /** Decides as the engine does: a rejection that still holds comes before the failure mode, which is empty. */
    private static Optional<Decision> decide(RedissonBackend backend, Charge charge, boolean async) {
        List<Charge> charges = List.of(charge);
        try {
            return Optional.of(
                    async ? backend.acquireAsync(charges).toCompletableFuture().join() : backend.acquire(charges));
        } catch (BackendException | CompletionException e) {
            return backend.knownRejection(charges).map(rejected -> rejected);
        }
    }

    private static boolean isRejected(RedissonBackend backend, Charge charge) {
        boolean sync = decide(backend, charge, false)
                .map(decision -> !decision.allowed())
                .orElse(false);
        boolean async = decide(backend, charge, true)
                .map(decision -> !decision.allowed())
                .orElse(false);
        return sync && async;
    }

    private static Charge exhausted(RedissonBackend backend, String storedKey, Limit limit) {
        Charge charge = TestBackend.charge(storedKey, 1, limit);
        Await.until("the key is exhausted", TIMEOUT, () -> isRejected(backend, charge));
        return charge;
    }

    @ParameterizedTest(name = "paused: {0}, breaker: {1}")
    @Tag("ci")
    @CsvSource({"false,true", "false,false", "true,true", "true,false"})
    void anExhaustedKeyStaysRejectedUntilItsEnd(boolean paused, boolean breaker) {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = started(redis, breaker);
            try {
                Charge other = TestBackend.charge("k.other", 1, LONG);
                backend.acquire(List.of(other));
                Charge exhausted = exhausted(backend, "k.long", LONG);
                Charge ending = exhausted(backend, "k.short", SHORT);
                if (paused) {
                    redis.pause();
                } else {
                    redis.kill();
                }
                assertThat(isRejected(backend, ending)).isTrue();
                for (int call = 0; call < 20; call++) {
                    assertThat(isRejected(backend, exhausted)).isTrue();
                    assertThat(decide(backend, other, call % 2 == 0)).isEmpty();
                }
                Await.until(
                        "the end of the rejection",
                        TIMEOUT,
                        () -> decide(backend, ending, false).isEmpty());
                assertThat(decide(backend, ending, true)).isEmpty();
                assertThat(isRejected(backend, exhausted)).isTrue();
                if (paused) {
                    redis.resume();
                }
            } finally {
                backend.close();
            }
        }
    }

    /** Each reply comes after the deadline, also the first one that rejects the key. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aKeyThatASlowRedisRejectsIsRejectedFromThatReplyOn(boolean async) {
        try (RedisProcess redis = RedisProcess.started();
                FaultProxy proxy = FaultProxy.inFrontOf(redis)) {
            RedissonBackend other = started(redis.address(), false);
            RedissonBackend slow = started(proxy.address(), false);
            try {
                Charge exhausted = exhausted(other, "k.slow", LONG);
                proxy.hold();
                assertThat(decide(slow, exhausted, async)).isEmpty();
                proxy.forward();
                Await.until(
                        "the late reply",
                        TIMEOUT,
                        () -> slow.knownRejection(List.of(exhausted)).isPresent());
                proxy.hold();
                assertThat(decide(slow, exhausted, async))
                        .hasValueSatisfying(
                                decision -> assertThat(decision.allowed()).isFalse());
            } finally {
                slow.close();
                other.close();
            }
        }
    }

    @Test
    void aRefundAndAResetEndARejectionAlsoWhileRedisIsAway() {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = started(redis, true);
            try {
                Charge reset = exhausted(backend, "k.reset", LONG);
                Charge refunded = exhausted(backend, "k.refunded", LONG);
                redis.kill();
                Await.until("the breaker is open", TIMEOUT, () -> {
                    decide(backend, TestBackend.charge("k.other", 1, LONG), false);
                    return backend.status().breakerOpen();
                });
                assertThat(isRejected(backend, reset)).isTrue();
                assertThat(isRejected(backend, refunded)).isTrue();
                assertThatExceptionOfType(BackendException.class)
                        .isThrownBy(() -> backend.reset(List.of(reset.policy()), reset.storedKey()));
                assertThatExceptionOfType(BackendException.class)
                        .isThrownBy(() -> new TestedBackend(backend).refund(refunded));
                assertThat(backend.knownRejection(List.of(reset))).isEmpty();
                assertThat(backend.knownRejection(List.of(refunded))).isEmpty();
            } finally {
                backend.close();
            }
        }
    }
}
