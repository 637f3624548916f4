// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Redis commands of a decision: one script, and no write unless the call is allowed. */
@Tag("redis")
class TrafficTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    /** Returns the instant at which a key expires, in milliseconds, within one script. */
    private static final String EXPIRY_INSTANT =
            "local now = redis.call('TIME') return now[1] * 1000 + math.floor(now[2] / 1000) + redis.call('PTTL', KEYS[1])";

    private final TestBackend fixture = TestBackend.on(RedisFixture.shared().address());
    private final RedisConnection redis = RedisFixture.shared().connect();

    @BeforeEach
    void connect() {
        fixture.ready();
        redis.drop(fixture.pattern());
    }

    @AfterEach
    void disconnect() {
        fixture.close();
        redis.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 64})
    void aDecisionIsOneScriptForAnyNumberOfLimits(int limits) {
        List<Charge> charges = new ArrayList<>();
        for (int i = 0; i < limits; i++) {
            Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofSeconds(60 + i));
            charges.add(new Charge(new PolicyLimits("p" + i, List.of(limit)), "k." + i % 3, 1));
        }
        long scripts = redis.calls("evalsha");
        long sources = redis.calls("eval");
        assertThat(fixture.backend().acquire(charges).allowed()).isTrue();
        assertThat(redis.calls("evalsha") - scripts).isEqualTo(1);
        assertThat(redis.calls("eval") - sources).isZero();
        assertThat(redis.keys(fixture.pattern())).hasSize(limits);
    }

    @Test
    void aPeekOfSeveralPoliciesIsOneScriptAndWritesNothing() {
        List<Charge> charges = new ArrayList<>();
        for (Algorithm algorithm : Algorithm.values()) {
            Limit limit = TestBackend.limitOf(algorithm, 100, Duration.ofHours(1));
            charges.add(new Charge(new PolicyLimits(algorithm.configName(), List.of(limit)), "k.a", 1));
            charges.add(new Charge(new PolicyLimits(algorithm.configName(), List.of(limit)), "k.b", 1));
        }
        long scripts = redis.calls("evalsha");
        assertThat(fixture.backend().peek(charges)).hasSize(charges.size());
        assertThat(redis.calls("evalsha") - scripts).isEqualTo(1);
        assertThat(redis.keys(fixture.pattern())).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "SLIDING_LOG", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    void aRejectionWritesNothingAndKeepsTheTimeToLive(Algorithm algorithm) {
        Limit limit = TestBackend.limitOf(algorithm, 10, Duration.ofHours(1));
        fixture.acquire("k.a", 8, limit);
        String key = fixture.key("k.a");
        byte[] before = (byte[]) redis.call("DUMP", key);
        long expires = expiryInstant(key);
        long writes = redis.writes();
        long scripts = redis.calls("evalsha");
        // With another clock than Redis's there is no rejection cache, so Redis rejects each call.
        RedissonBackend uncached = new RedissonBackend(
                new RedisClient(fixture::client, false, fixture.namespace(), DEADLINE),
                fixture.namespace(),
                DEADLINE,
                () -> 0);
        for (int call = 0; call < 50; call++) {
            assertThat(uncached.acquire(List.of(TestBackend.charge("k.a", 3, limit))))
                    .isInstanceOf(Decision.Rejected.class);
        }
        assertThat(redis.calls("evalsha") - scripts).isGreaterThanOrEqualTo(50);
        uncached.close();
        assertThat(redis.writes()).isEqualTo(writes);
        assertThat((byte[]) redis.call("DUMP", key)).isEqualTo(before);
        assertThat(expiryInstant(key)).isCloseTo(expires, within(20L));
    }

    @Test
    void aRejectionByOneLimitWritesNoOtherLimit() {
        Limit narrow = Limit.of(Algorithm.TOKEN_BUCKET, 1, Duration.ofHours(1));
        Limit wide = Limit.of(Algorithm.SLIDING_WINDOW, 1_000, Duration.ofHours(1));
        fixture.acquire("k.narrow", 1, narrow);
        long writes = redis.writes();
        Decision decision = fixture.backend()
                .acquire(List.of(
                        TestBackend.charge("k.first", 1, wide),
                        TestBackend.charge("k.narrow", 1, narrow),
                        TestBackend.charge("k.last", 1, wide)));
        assertThat(decision.allowed()).isFalse();
        assertThat(redis.writes()).isEqualTo(writes);
        assertThat(redis.keys(fixture.pattern())).containsExactly(fixture.key("k.narrow"));
    }

    @Test
    void aCostAboveTheCapacityAndAPeekCreateNoKey() {
        Limit limit = Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofHours(1));
        fixture.acquire("k.a", 11, limit);
        fixture.acquire("k.b", Long.MAX_VALUE, limit);
        assertThat(fixture.remaining("k.c", limit)).isEqualTo(10);
        assertThat(redis.keys(fixture.pattern())).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "SLIDING_LOG"})
    void aCompleteRefundAndAResetLeaveNoKey(Algorithm algorithm) {
        Limit limit = Limit.of(algorithm, 10, Duration.ofHours(1));
        Decision.Allowed allowed = (Decision.Allowed) fixture.acquire("k.a", 3, limit);
        assertThat(redis.keys(fixture.pattern())).hasSize(1);
        fixture.backend().refund(allowed.receipt()).toCompletableFuture().join();
        assertThat(redis.keys(fixture.pattern())).isEmpty();
        fixture.acquire("k.a", 3, limit);
        fixture.backend()
                .refund(TestBackend.charge("k.a", 3, limit))
                .toCompletableFuture()
                .join();
        assertThat(redis.keys(fixture.pattern())).isEmpty();
        fixture.acquire("k.b", 3, limit);
        fixture.backend().reset(List.of(TestBackend.charge("k.b", 1, limit).policy()), "k.b");
        assertThat(redis.keys(fixture.pattern())).isEmpty();
    }

    /** Returns the latest of several values, since each is too early by the time between the two commands of the script. */
    private long expiryInstant(String key) {
        return LongStream.range(0, 20)
                .map(i -> redis.number("EVAL", EXPIRY_INSTANT, 1, key))
                .max()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shadowPoliciesAreSentOnceTheirCallIsAllowedAndARejectionWritesNothing(boolean onlyShadows) {
        Limit one = Limit.of(Algorithm.SLIDING_WINDOW, 1, Duration.ofHours(1));
        Limit many = Limit.of(Algorithm.TOKEN_BUCKET, 100, Duration.ofHours(1));
        Charge enforced = TestBackend.charge("k.a", 1, one);
        List<Charge> charges = List.of(
                TestBackend.charge("k.b", 1, many).asShadow(),
                onlyShadows ? enforced.asShadow() : enforced,
                TestBackend.charge("k.c", 1, one).asShadow());
        long scripts = redis.calls("evalsha");
        assertThat(fixture.backend().acquire(charges).allowed()).isTrue();
        assertThat(redis.calls("evalsha") - scripts).isEqualTo(3);
        assertThat(redis.keys(fixture.pattern())).hasSize(3);
        long writes = redis.writes();
        assertThat(fixture.backend().acquire(charges).allowed()).isEqualTo(onlyShadows);
        assertThat(redis.calls("evalsha") - scripts).isEqualTo(onlyShadows ? 6 : 4);
        assertThat(redis.writes() - writes).isEqualTo(onlyShadows ? 1 : 0);
    }
}
