// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.TestedBackend;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Blocks of keys and penalties on a real Redis, by its clock. */
@Tag("redis")
class BlocksOnRedisTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Limit LIMIT = Limit.of(Algorithm.SLIDING_WINDOW, 1_000, Duration.ofSeconds(1));
    private static final Charge CHARGE = TestBackend.charge("k.a", 1, LIMIT);
    private static final PolicyLimits POLICY = CHARGE.policy();

    private final ManualTimer timer = new ManualTimer();
    private final TestBackend fixture = TestBackend.on(RedisFixture.shared().address(), Duration.ofSeconds(20), timer);
    private final RedisConnection redis = RedisFixture.shared().connect();
    private RedissonBackend other;

    @BeforeEach
    void connect() {
        fixture.ready();
        other = fixture.another();
        redis.drop(fixture.pattern());
    }

    @AfterEach
    void disconnect() {
        other.close();
        fixture.close();
        redis.close();
    }

    private boolean isAllowed(RedissonBackend backend) {
        return backend.acquire(List.of(CHARGE)).allowed();
    }

    private long ttl(String key) {
        return redis.number("PTTL", key);
    }

    @Test
    void theKeyLivesUntilTheEndOfTheBlock() {
        fixture.backend()
                .block(POLICY, "k.a", Duration.ofMinutes(2))
                .toCompletableFuture()
                .join();
        assertThat(ttl(fixture.key("k.a"))).isBetween(100_000L, 120_000L);
        assertThat(HexFormat.of().formatHex(redis.bytes(fixture.key("k.a"))))
                .startsWith("62" + "0000000001")
                .endsWith("0000")
                .hasSize(30);
        fixture.backend()
                .block(POLICY, "k.a", Duration.ofMinutes(4))
                .toCompletableFuture()
                .join();
        assertThat(ttl(fixture.key("k.a"))).isBetween(200_000L, 240_000L);
        assertThat(redis.bytes(fixture.key("k.a"))).hasSize(15);
        fixture.backend().unblock(POLICY, "k.a").toCompletableFuture().join();
        assertThat(redis.number("EXISTS", fixture.key("k.a"))).isZero();
    }

    @Test
    void theStateOfALimitKeepsItsTimeToLiveAfterAnUnblock() {
        isAllowed(fixture.backend());
        fixture.backend()
                .block(POLICY, "k.a", Duration.ofHours(1))
                .toCompletableFuture()
                .join();
        fixture.backend().unblock(POLICY, "k.a").toCompletableFuture().join();
        assertThat(ttl(fixture.key("k.a"))).isBetween(1L, 2_000L);
    }

    @Test
    void aBlockedKeyIsRejectedFromMemory() {
        other.block(POLICY, "k.a", Duration.ofMinutes(2)).toCompletableFuture().join();
        assertThat(isAllowed(fixture.backend())).isFalse();
        long before = redis.calls("evalsha");
        for (int call = 0; call < 1_000; call++) {
            Decision.Rejected rejected = (Decision.Rejected) fixture.backend().acquire(List.of(CHARGE));
            assertThat(rejected.blocked()).isTrue();
            assertThat(Micros.blockedFor(rejected.decisiveQuota())).isPositive();
        }
        assertThat(redis.calls("evalsha") - before).isLessThan(100);
    }

    @Test
    void anotherInstanceUnblocksTheKeyWithinASecond() {
        other.block(POLICY, "k.a", Duration.ofMinutes(2)).toCompletableFuture().join();
        assertThat(isAllowed(fixture.backend())).isFalse();
        other.unblock(POLICY, "k.a").toCompletableFuture().join();
        assertThat(isAllowed(other)).isTrue();
        long start = System.nanoTime();
        Await.until("the key is unblocked", SOON, () -> isAllowed(fixture.backend()));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void theInstanceThatBlocksForgetsItsLease() {
        LeasedCalls calls = leased();
        fixture.backend()
                .block(calls.charge().policy(), "k.hot", Duration.ofMinutes(2))
                .toCompletableFuture()
                .join();
        assertThat(calls.call().allowed()).isFalse();
    }

    @Test
    void anInstanceWithALeaseLearnsOfTheBlockByACheck() {
        LeasedCalls calls = leased();
        other.block(calls.charge().policy(), "k.hot", Duration.ofMinutes(2))
                .toCompletableFuture()
                .join();
        Await.until("the lease ends", SOON, () -> {
            boolean rejected = !calls.call().allowed();
            timer.run();
            return rejected;
        });
        assertThat(calls.calls(20)).noneMatch(Decision::allowed);
    }

    private LeasedCalls leased() {
        return new LeasedCalls(
                        fixture.backend(),
                        other,
                        LeasedCalls.charge(1_000, LeasedCalls.monthly(Algorithm.FIXED_WINDOW, 1_000_000)),
                        timer::run)
                .hot();
    }

    @Test
    void aForeignValueIsNotChanged() {
        redis.call("SET", fixture.key("k.a"), "foreign");
        assertThatThrownBy(() -> new TestedBackend(fixture.backend()).block(POLICY, "k.a", Duration.ofMinutes(2)))
                .isInstanceOf(BackendException.class);
        assertThatThrownBy(() -> new TestedBackend(fixture.backend()).unblock(POLICY, "k.a"))
                .isInstanceOf(BackendException.class);
        assertThat(redis.text("GET", fixture.key("k.a"))).isEqualTo("foreign");
        String penalties = fixture.key("k.b").replace(":api", ":+penalty.api");
        redis.call("SET", penalties, "foreign");
        PenaltyRule rule = rule(1);
        assertThatThrownBy(() -> count("k.b", 1, rule)).hasCauseInstanceOf(BackendException.class);
        assertThat(redis.text("GET", penalties)).isEqualTo("foreign");
        assertThat(redis.number("EXISTS", fixture.key("k.b"))).isZero();
    }

    private static PenaltyRule rule(long rejections) {
        return new PenaltyRule(rejections, Duration.ofMinutes(1), Duration.ofMinutes(2), 2, Duration.ofMinutes(10));
    }

    private Optional<BlocksKeys.Penalty> count(String storedKey, long rejections, PenaltyRule rule) {
        return fixture.backend()
                .countRejections(POLICY, storedKey, rejections, rule)
                .toCompletableFuture()
                .join();
    }

    @Test
    void thePenaltiesExpire() {
        String penalties = fixture.key("k.a").replace(":api", ":+penalty.api");
        assertThat(count("k.a", 1, rule(3))).isEmpty();
        assertThat(ttl(penalties)).isBetween(50_000L, 60_000L);
        assertThat(count("k.a", 2, rule(3))).isPresent();
        assertThat(ttl(penalties)).isBetween(700_000L, 720_000L);
        assertThat(ttl(fixture.key("k.a"))).isBetween(100_000L, 120_000L);
        fixture.backend().reset(List.of(POLICY), "k.a");
        assertThat(redis.keys(fixture.pattern())).isEmpty();
    }
}
