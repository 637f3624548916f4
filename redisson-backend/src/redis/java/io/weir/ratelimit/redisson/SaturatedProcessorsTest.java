// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.BusyProcessors;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Callers of one key over its limit, without a pause between calls, with the default deadline and breaker, while other processes use all
 * processors. A caller over its limit gains nothing by that.
 */
@Tag("fault")
@Tag("ci")
class SaturatedProcessorsTest {
    private static final int CALLERS = 200;
    private static final Limit LIMIT = Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofMinutes(1));

    /** Less than the window, so that no rejection ends unless the machine stands still. */
    private static final Duration LOAD = Duration.ofSeconds(20);

    @Test
    void anExhaustedKeyStaysRejected() {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = started(redis);
            try {
                Charge exhausted = TestBackend.charge("k.exhausted", 1, LIMIT);
                Await.until(
                        "a rejection",
                        Duration.ofSeconds(30),
                        () -> !backend.acquire(List.of(exhausted)).allowed());
                OpenCallers callers = load(backend, exhausted);
                System.out.println("exhausted key, saturated processors: " + callers);
                assertThat(callers.allowed()).isLessThanOrEqualTo(LIMIT.permits());
                assertThat(callers.undecidedWhileRejected()).isZero();
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void aKeyIsRejectedFromItsFirstRejectionOn() {
        try (RedisProcess redis = RedisProcess.started()) {
            RedissonBackend backend = started(redis);
            try {
                OpenCallers callers = load(backend, TestBackend.charge("k.first", 1, LIMIT));
                System.out.println("untouched key, saturated processors: " + callers);
                assertThat(callers.allowed()).isLessThanOrEqualTo(LIMIT.permits());
                assertThat(callers.undecidedWhileRejected()).isZero();
            } finally {
                backend.close();
            }
        }
    }

    private static RedissonBackend started(RedisProcess redis) {
        RedissonBackend backend = new TestConfig(
                        Map.of(RedisSettings.ADDRESS, redis.address(), "CircuitBreaker/enabled", "true"))
                .withDeadline(FaultCalls.DEADLINE)
                .started();
        FaultCalls.awaitDecision(backend);
        return backend;
    }

    private static OpenCallers load(RedissonBackend backend, Charge charge) {
        try (BusyProcessors busy = BusyProcessors.started();
                OpenCallers callers = OpenCallers.started(backend, CALLERS, 0, LOAD, charge)) {
            callers.await();
            return callers;
        }
    }
}
