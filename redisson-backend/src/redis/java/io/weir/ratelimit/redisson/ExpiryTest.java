// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Expiry by Redis's own clock: a key lives as long as it differs from an untouched one, and not forever. */
@Tag("redis")
class ExpiryTest {
    /** The error of three numbers that are rounded to milliseconds. */
    private static final long ROUNDING_MILLIS = 3;

    private final TestBackend fixture = TestBackend.on(RedisFixture.shared().address());
    private final RedisConnection redis = RedisFixture.shared().connect();
    private long lastCallNanos;

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
        Quota quota = acquire(cost, limit).quotas().get(0);
        long recoveryMillis = Micros.resetAfter(quota) / 1_000;
        assertThat(ttl()).isLessThanOrEqualTo(Math.min(2 * recoveryMillis, recoveryMillis + 1_000));
        assertThat(ttlAtCall()).isGreaterThanOrEqualTo(recoveryMillis - ROUNDING_MILLIS);
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "SLIDING_LOG", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    void aKeyThatEqualsAnUntouchedOneHasExpired(Algorithm algorithm) {
        Limit limit = TestBackend.limitOf(algorithm, 50, Duration.ofMillis(500));
        fixture.acquire("k.a", 10, limit);
        Await.until(
                "the key has expired",
                Duration.ofSeconds(10),
                () -> redis.keys(fixture.pattern()).isEmpty());
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "SLIDING_LOG", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    @Tag("field")
    void aKeyThatHasLostItsTimeToLiveIsAllowedAgain(Algorithm algorithm) {
        Limit limit = TestBackend.limitOf(algorithm, 50, Duration.ofMillis(500));
        fixture.acquire("k.a", limit.capacity(), limit);
        assertThat(redis.number("PERSIST", fixture.key("k.a"))).isOne();
        Await.until(
                "the permits have returned",
                Duration.ofSeconds(10),
                () -> fixture.acquire("k.a", 1, limit).allowed());
        assertThat(ttl()).isPositive();
    }

    @Test
    void laterCallsAndRefundsDoNotMoveTheEndOfAFixedWindow() {
        Limit limit = Limit.of(Algorithm.FIXED_WINDOW, 100, Duration.ofHours(1));
        Quota first = acquire(1, limit).quotas().get(0);
        long before = Micros.resetAfter(first);
        for (int call = 0; call < 20; call++) {
            Decision.Allowed allowed = (Decision.Allowed) acquire(2, limit);
            fixture.backend().refund(allowed.receipt()).toCompletableFuture().join();
            long resetMicros = Micros.resetAfter(allowed.quotas().get(0));
            assertThat(resetMicros).isLessThan(before);
            before = resetMicros;
            assertThat(ttl()).isLessThanOrEqualTo(before / 1_000 + 1);
            assertThat(ttlAtCall()).isGreaterThanOrEqualTo(before / 1_000 - ROUNDING_MILLIS);
        }
    }

    @Test
    void aLowerLimitProlongsTheTimeToLiveWithTheNextCharge() {
        fixture.acquire("k.a", 50, Limit.of(Algorithm.TOKEN_BUCKET, 3_600, Duration.ofHours(1)));
        assertThat(ttl()).isLessThanOrEqualTo(50_000);
        Quota quota = acquire(1, Limit.of(Algorithm.TOKEN_BUCKET, 60, Duration.ofHours(1)))
                .quotas()
                .get(0);
        assertThat(ttl()).isLessThanOrEqualTo(2 * 51 * 60_000L);
        assertThat(ttlAtCall()).isGreaterThanOrEqualTo(Micros.resetAfter(quota) / 1_000 - ROUNDING_MILLIS);
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"TOKEN_BUCKET", "LEAKY_BUCKET"})
    void aRejectionUnderALowerLimitProlongsTheTimeToLive(Algorithm algorithm) {
        fixture.acquire("k.a", 50, Limit.of(algorithm, 3_600, Duration.ofHours(1), 100));
        assertThat(ttl()).isLessThanOrEqualTo(50_000);
        Quota quota = acquire(100, Limit.of(algorithm, 60, Duration.ofHours(1), 100))
                .quotas()
                .get(0);
        assertThat(quota.rejected()).isTrue();
        assertThat(ttl()).isLessThanOrEqualTo(50 * 60_000L + ROUNDING_MILLIS);
        assertThat(ttlAtCall()).isGreaterThanOrEqualTo(Micros.resetAfter(quota) / 1_000 - ROUNDING_MILLIS);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 50})
    void aChangeByReceiptOfAHigherLimitKeepsTheTimeToLiveOfTheLatestCall(long actual) {
        Limit before = Limit.of(Algorithm.TOKEN_BUCKET, 36_000, Duration.ofHours(1));
        Limit lowered = Limit.of(Algorithm.TOKEN_BUCKET, 60, Duration.ofHours(1));
        Receipt receipt = ((Decision.Allowed) fixture.acquire("k.a", 20, before)).receipt();
        acquire(10, lowered);
        fixture.backend()
                .settle(receipt, charge -> true, actual)
                .toCompletableFuture()
                .join();
        Quota quota = fixture.backend()
                .peek(List.of(TestBackend.charge("k.a", 1, lowered)))
                .get(0);
        assertThat(Micros.resetAfter(quota)).isGreaterThan(9 * 60_000_000L);
        assertThat(ttlAtCall()).isGreaterThanOrEqualTo(Micros.resetAfter(quota) / 1_000 - ROUNDING_MILLIS);
    }

    @Test
    void aSettlementUnderAFarLowerLimitLeavesAStateThatCanBeRead() {
        Limit before = Limit.of(Algorithm.TOKEN_BUCKET, 10_000_000, Duration.ofHours(1));
        Limit lowered = Limit.of(Algorithm.TOKEN_BUCKET, 1, Duration.ofHours(1));
        Receipt receipt = ((Decision.Allowed) fixture.acquire("k.a", 1, before)).receipt();
        acquire(1, lowered);
        fixture.backend()
                .settle(receipt, charge -> true, 9_000_000)
                .toCompletableFuture()
                .join();
        assertThat(ttl()).isBetween(Duration.ofDays(365).toMillis(), (1L << 53) / 1_000);
        fixture.backend()
                .block(TestBackend.charge("k.a", 1, lowered).policy(), "k.a", Duration.ofMinutes(1))
                .toCompletableFuture()
                .join();
    }

    @Test
    void everyKeyHasATimeToLiveAfterRandomOperations() {
        Random random = new Random(42);
        List<Receipt> receipts = new ArrayList<>();
        for (int step = 0; step < 600; step++) {
            String storedKey = "k." + random.nextInt(5);
            Limit[] limits = {
                limit(random, Algorithm.FIXED_WINDOW, 30),
                limit(random, Algorithm.SLIDING_WINDOW, 40),
                limit(random, Algorithm.TOKEN_BUCKET, 50),
                limit(random, Algorithm.LEAKY_BUCKET, 60)
            };
            switch (random.nextInt(8)) {
                case 0 ->
                    fixture.backend()
                            .refund(TestBackend.charge(storedKey, 1 + random.nextInt(3), limits))
                            .toCompletableFuture()
                            .join();
                case 1 -> {
                    if (!receipts.isEmpty()) {
                        fixture.backend()
                                .refund(receipts.remove(random.nextInt(receipts.size())))
                                .toCompletableFuture()
                                .join();
                    }
                }
                case 2 -> fixture.backend().peek(List.of(TestBackend.charge(storedKey, 1, limits)));
                default -> {
                    if (fixture.acquire(storedKey, 1 + random.nextInt(4), limits) instanceof Decision.Allowed allowed) {
                        receipts.add(allowed.receipt());
                    }
                }
            }
            for (String key : redis.keys(fixture.pattern())) {
                assertThat(redis.number("PTTL", key))
                        .as("time to live of %s after step %d (-2: expired meanwhile)", key, step)
                        .isNotEqualTo(-1);
            }
        }
        assertThat(receipts).isNotEmpty();
    }

    private static Limit limit(Random random, Algorithm algorithm, int millis) {
        return TestBackend.limitOf(
                algorithm,
                1 + random.nextInt(20),
                Duration.ofMillis(random.nextBoolean() ? millis : 3_600_000L + millis));
    }

    private Decision acquire(long cost, Limit limit) {
        lastCallNanos = System.nanoTime();
        return fixture.acquire("k.a", cost, limit);
    }

    private long ttl() {
        return redis.number("PTTL", fixture.key("k.a"));
    }

    /** Returns at least the time to live that the key had at the last call, and more by the duration of the call and this one. */
    private long ttlAtCall() {
        return ttl() + Duration.ofNanos(System.nanoTime() - lastCallNanos).toMillis();
    }
}
