// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Keys that stay where they are while the clock that they are decided by steps, as Redis's does when it is set. The script's clock
 * is a number here; what expires, expires by Redis's own.
 */
class ClockStepTest {
    private static final long PERMITS = 10;
    private static final Duration WINDOW = Duration.ofSeconds(10);
    private static final long WINDOW_MICROS = WINDOW.toNanos() / 1_000;
    /** The wait at a full key: of a sliding window, a permit comes back when a tenth of what is left behind has gone. */
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
        redis.drop("weir:1:{" + namespace + ":*");
        redis.close();
    }

    @ParameterizedTest
    @EnumSource
    void anHourBackLocksNobodyOutForLongerThanAFullKeyDoes(Algorithm algorithm) {
        Charge charge = charge("k.back", algorithm);
        assertThat(spendAll(charge)).isEqualTo(PERMITS);
        clock.addAndGet(-HOUR);
        assertGoesOn(charge);
    }

    @ParameterizedTest
    @EnumSource
    void aDayAheadAndBackGivesOneLimitMoreAtMostAndLocksNobodyOut(Algorithm algorithm) {
        Charge charge = charge("k.ahead", algorithm);
        assertThat(spendAll(charge)).isEqualTo(PERMITS);
        clock.addAndGet(24 * HOUR);
        assertThat(spendAll(charge)).as("a day later").isEqualTo(PERMITS);
        assertLives(charge);
        clock.addAndGet(-24 * HOUR);
        assertGoesOn(charge);
    }

    private static Charge charge(String identity, Algorithm algorithm) {
        return ClusterStore.charge(identity, 1, algorithm, PERMITS, WINDOW);
    }

    /** Tries until the longest wait has passed; in the end somebody was let in, and no more often than with a key that nobody had used. */
    private void assertGoesOn(Charge charge) {
        Charge untouched = charge("k.untouched", charge.policy().limits().get(0).algorithm());
        long admitted = 0;
        long most = 0;
        for (int step = 0; step <= STEPS; step++) {
            admitted += spendAll(charge);
            most += spendAll(untouched);
            clock.addAndGet(LONGEST_WAIT_MICROS / STEPS);
        }
        assertThat(admitted).isBetween(1L, most);
        assertLives(charge);
    }

    private long spendAll(Charge charge) {
        for (long admitted = 0; ; admitted++) {
            Decision decision = backend.acquire(List.of(charge));
            if (!decision.allowed()) {
                Quota quota = decision.quotas().get(0);
                assertThat(quota.retryAfterMicros()).isBetween(1L, LONGEST_WAIT_MICROS);
                return admitted;
            }
        }
    }

    private void assertLives(Charge charge) {
        Limit limit = charge.policy().limits().get(0);
        String key = "weir:1:{" + namespace + ":" + charge.identity() + "}:"
                + charge.policy().policy() + ":" + (char) limit.algorithm().letter() + WINDOW.toMillis();
        assertThat(redis.number("PTTL", key)).isBetween(1L, 2 * WINDOW.toMillis());
    }
}
