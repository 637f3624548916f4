// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Expiry on Redis's own clock: a key lives as long as it differs from one that was never charged, and none lives for ever. */
class ExpiryTest {
    /** How far apart two looks at one key may be. */
    private static final long MARGIN_MILLIS = 2_000;

    private final TestStore store = TestStore.on(RedisFixture.shared().address());
    private final RedisConnection redis = RedisFixture.shared().connect();

    @BeforeEach
    void connect() {
        store.ready();
        redis.drop(store.pattern());
    }

    @AfterEach
    void disconnect() {
        store.close();
        redis.close();
    }

    @ParameterizedTest(name = "{2} of {0} {1}/1h burst {3}")
    @CsvSource({
        "FIXED_WINDOW, 100, 1, 100",
        "FIXED_WINDOW, 100, 100, 100",
        "SLIDING_WINDOW, 100, 1, 100",
        "SLIDING_WINDOW, 100, 100, 100",
        "SLIDING_LOG, 100, 1, 100",
        "SLIDING_LOG, 100, 100, 100",
        "TOKEN_BUCKET, 100, 1, 100",
        "TOKEN_BUCKET, 100, 100, 100",
        "TOKEN_BUCKET, 100, 400, 500",
        "TOKEN_BUCKET, 7, 3, 7",
        "LEAKY_BUCKET, 7, 1, 1",
        "LEAKY_BUCKET, 100, 400, 500"
    })
    void aKeyLivesUntilItEqualsAnUntouchedOneAndNotTwiceAsLong(
            Algorithm algorithm, long permits, long cost, long burst) {
        Limit limit = algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET
                ? Limit.of(algorithm, permits, Duration.ofHours(1), burst)
                : Limit.of(algorithm, permits, Duration.ofHours(1));
        Quota quota = store.acquire("k.a", cost, limit).quotas().get(0);
        long recoveryMillis = quota.resetAfterMicros() / 1_000;
        assertThat(ttl("k.a", algorithm.letter() + "3600000"))
                .isBetween(recoveryMillis - MARGIN_MILLIS, Math.min(2 * recoveryMillis, recoveryMillis + 1_000));
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "SLIDING_LOG", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    void aKeyThatEqualsAnUntouchedOneIsGone(Algorithm algorithm) {
        Limit limit = TestStore.limitOf(algorithm, 50, Duration.ofMillis(500));
        store.acquire("k.a", 10, limit);
        Await.until(
                "the key has expired",
                Duration.ofSeconds(10),
                () -> redis.keys(store.pattern()).isEmpty());
    }

    @Test
    void laterCallsAndGivingBackDoNotMoveTheEndOfAFixedWindow() {
        Limit limit = Limit.of(Algorithm.FIXED_WINDOW, 100, Duration.ofHours(1));
        Quota first = store.acquire("k.a", 1, limit).quotas().get(0);
        long told = first.resetAfterMicros();
        for (int call = 0; call < 20; call++) {
            Decision.Allowed allowed = (Decision.Allowed) store.acquire("k.a", 2, limit);
            store.backend().giveBack(allowed.receipt());
            long resetMicros = allowed.quotas().get(0).resetAfterMicros();
            assertThat(resetMicros).isLessThan(told);
            told = resetMicros;
            assertThat(ttl("k.a", "f3600000")).isBetween(told / 1_000 - MARGIN_MILLIS, told / 1_000 + 1);
        }
    }

    @Test
    void aLoweredLimitThatNeedsLongerRenewsTheLifeWithTheNextCharge() {
        store.acquire("k.a", 50, Limit.of(Algorithm.TOKEN_BUCKET, 3_600, Duration.ofHours(1)));
        assertThat(ttl("k.a", "t3600000")).isLessThanOrEqualTo(50_000);
        Quota quota = store.acquire("k.a", 1, Limit.of(Algorithm.TOKEN_BUCKET, 60, Duration.ofHours(1)))
                .quotas()
                .get(0);
        assertThat(ttl("k.a", "t3600000"))
                .isBetween(quota.resetAfterMicros() / 1_000 - MARGIN_MILLIS, 2 * 51 * 60_000L);
    }

    @Test
    void everyKeyHasATimeToLiveAfterEachOfManyRandomOperations() {
        Random random = new Random(42);
        List<Receipt> receipts = new ArrayList<>();
        for (int step = 0; step < 600; step++) {
            String identity = "k." + random.nextInt(5);
            Limit[] limits = {
                limit(random, Algorithm.FIXED_WINDOW, 30),
                limit(random, Algorithm.SLIDING_WINDOW, 40),
                limit(random, Algorithm.TOKEN_BUCKET, 50),
                limit(random, Algorithm.LEAKY_BUCKET, 60)
            };
            switch (random.nextInt(8)) {
                case 0 -> store.backend().giveBack(TestStore.charge(identity, 1 + random.nextInt(3), limits));
                case 1 -> {
                    if (!receipts.isEmpty()) {
                        store.backend().giveBack(receipts.remove(random.nextInt(receipts.size())));
                    }
                }
                case 2 -> store.backend().peek(TestStore.charge(identity, 1, limits));
                default -> {
                    if (store.acquire(identity, 1 + random.nextInt(4), limits) instanceof Decision.Allowed allowed) {
                        receipts.add(allowed.receipt());
                    }
                }
            }
            for (String key : redis.keys(store.pattern())) {
                assertThat(redis.number("PTTL", key))
                        .as("time to live of %s after step %d (-2: expired meanwhile)", key, step)
                        .isNotEqualTo(-1);
            }
        }
        assertThat(receipts).isNotEmpty();
    }

    private static Limit limit(Random random, Algorithm algorithm, int millis) {
        return TestStore.limitOf(
                algorithm,
                1 + random.nextInt(20),
                Duration.ofMillis(random.nextBoolean() ? millis : 3_600_000L + millis));
    }

    private long ttl(String identity, String tail) {
        return redis.number("PTTL", store.key(identity, tail));
    }
}
