// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.WindowLimit;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Keys under a clock that steps, as the clock of Redis does when it is set. In this test, the clock of the scripts is a number. Keys
 * expire by the clock of Redis.
 */
@Tag("fault")
class ClockStepTest {
    private static final long PERMITS = 10;
    private static final Duration WINDOW = Duration.ofMinutes(10);
    private static final long WINDOW_MICROS = WINDOW.toNanos() / 1_000;
    /** The retry-after of a full key. A permit of a sliding window returns when a tenth of the previous window has passed. */
    private static final long LONGEST_WAIT_MICROS = WINDOW_MICROS + WINDOW_MICROS / PERMITS;

    private static final long HOUR = 3_600_000_000L;
    private static final int STEPS = 20;

    private final RedissonClient client = client();
    private final String namespace = "test-" + UUID.randomUUID();
    private final AtomicLong clock = new AtomicLong();
    private final RedissonBackend backend = new RedissonBackend(
            new RedisClient(() -> client, false, namespace, Duration.ofSeconds(20)),
            namespace,
            Duration.ofSeconds(20),
            clock::get);
    private final RedisConnection redis = RedisFixture.shared().connect();

    private static RedissonClient client() {
        Config config = new Config().setCodec(StringCodec.INSTANCE);
        config.useSingleServer().setAddress(RedisFixture.shared().address());
        return Redisson.create(config);
    }

    @BeforeEach
    void setClock() {
        List<?> now = (List<?>) redis.call("TIME");
        clock.set(1_000_000 * Long.parseLong(new String((byte[]) now.get(0))));
        FaultCalls.awaitDecision(backend);
    }

    @AfterEach
    void disconnect() {
        backend.close();
        client.shutdown();
        redis.drop("weir:2:{" + namespace + ":*");
        redis.close();
    }

    @ParameterizedTest
    @EnumSource
    void aStepOfAnHourBackRejectsCallsNoLongerThanAFullKey(Algorithm algorithm) {
        Charge charge = charge("k.back", algorithm);
        assertThat(spendAll(charge)).isEqualTo(PERMITS);
        clock.addAndGet(-HOUR);
        assertAllowsCallsAgain(charge);
    }

    @ParameterizedTest
    @EnumSource
    void aStepOfADayForwardAndBackAllowsAtMostOneMoreLimit(Algorithm algorithm) {
        Charge charge = charge("k.forward", algorithm);
        assertThat(spendAll(charge)).isEqualTo(PERMITS);
        clock.addAndGet(24 * HOUR);
        assertThat(spendAll(charge)).as("a day later").isEqualTo(PERMITS);
        assertLives(charge);
        clock.addAndGet(-24 * HOUR);
        assertAllowsCallsAgain(charge);
    }

    private static Charge charge(String storedKey, Algorithm algorithm) {
        return ClusterUnderFault.charge(storedKey, 1, algorithm, PERMITS, WINDOW);
    }

    /** Calls until the longest retry-after has passed. Some calls are allowed, but not more than on an untouched key. */
    private void assertAllowsCallsAgain(Charge charge) {
        Charge untouched =
                charge("k.untouched", ((WindowLimit) charge.policy().limits().get(0)).algorithm());
        long allowed = 0;
        long most = 0;
        for (int step = 0; step <= STEPS; step++) {
            allowed += spendAll(charge);
            most += spendAll(untouched);
            clock.addAndGet(LONGEST_WAIT_MICROS / STEPS);
        }
        assertThat(allowed).isBetween(1L, most);
        assertLives(charge);
    }

    private long spendAll(Charge charge) {
        for (long allowed = 0; ; allowed++) {
            Decision decision = backend.acquire(List.of(charge));
            if (!decision.allowed()) {
                Quota quota = decision.quotas().get(0);
                assertThat(Micros.retryAfter(quota)).isBetween(1L, LONGEST_WAIT_MICROS);
                return allowed;
            }
        }
    }

    private void assertLives(Charge charge) {
        String key = "weir:2:{" + namespace + ":" + charge.storedKey() + "}:"
                + charge.policy().policy();
        assertThat(redis.number("PTTL", key)).isBetween(1L, 2 * WINDOW.toMillis());
    }
}
