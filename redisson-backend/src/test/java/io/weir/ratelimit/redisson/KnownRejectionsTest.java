// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KnownRejectionsTest {
    private static final RedisKeys KEYS = RedisKeys.of("test");
    private static final long REDIS_NOW = 1_763_638_242_123_457L;

    /** The instant at which Redis decided, by the monotonic clock, which may be negative. */
    private static final long SENT = -77_000_000_000L;

    private static final Duration HOUR = Duration.ofHours(1);

    private final RejectionCache cache = new RejectionCache(KEYS);
    private final KnownRejections known = new KnownRejections(cache, KEYS);

    private static Charge charge(String policy, String storedKey, long cost, Limit... limits) {
        return new Charge(new PolicyLimits(policy, List.of(limits)), storedKey, cost);
    }

    /** Caches the rejection of a charge whose limits are exhausted, and returns its retry-after in microseconds. */
    private long reject(Charge charge) {
        List<LimitState> states = charge.policy().limits().stream()
                .map(limit -> LimitState.untouched(limit, REDIS_NOW).spend(limit, limit.capacity(), REDIS_NOW))
                .toList();
        List<String> keys = KEYS.of(List.of(charge));
        cache.put(
                ChargeStates.split(List.of(charge), states),
                keys,
                new RedisTime(REDIS_NOW, SENT, SENT),
                cache.version(keys));
        Limit limit = charge.policy().limits().get(0);
        return states.get(0).retryAfterMicros(limit, charge.cost(), REDIS_NOW);
    }

    private Optional<Decision.Rejected> find(long afterMicros, Charge... charges) {
        List<Charge> all = List.of(charges);
        return known.find(all, KEYS.of(all), SENT + TimeUnit.MICROSECONDS.toNanos(afterMicros));
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aRejectionLastsUntilItsEndAndNoLonger(Algorithm algorithm) {
        Charge charge = charge("api", "p.alice", 3, TestBackend.limitOf(algorithm, 10, HOUR));
        long end = reject(charge);
        assertThat(end).isGreaterThan(60_000_000);
        for (long percent = 0; percent < 99; percent++) {
            assertThat(find(end * percent / 100, charge))
                    .as("after %d %%", percent)
                    .isPresent();
        }
        assertThat(find(end, charge)).isEmpty();
        // The clocks may differ by a thousandth of the time since the rejection.
        assertThat(find(end * 1_000 / 1_001 - 2, charge)).isPresent();
        assertThat(find(end * 1_000 / 1_001 + 2, charge)).isEmpty();
        long half = end / 2;
        assertThat(Micros.retryAfter(find(half, charge).orElseThrow().decisiveQuota()))
                .isEqualTo(end - half);
    }

    @Test
    void concernsNeitherAnotherKeyNorAnotherLimitNorACostWithRoom() {
        Limit limit = TestBackend.limitOf(Algorithm.FIXED_WINDOW, 10, HOUR);
        reject(charge("api", "p.alice", 3, limit));
        assertThat(find(5_000_000, charge("api", "p.bob", 3, limit))).isEmpty();
        assertThat(find(5_000_000, charge("api", "p.alice", 3, TestBackend.limitOf(Algorithm.FIXED_WINDOW, 20, HOUR))))
                .isEmpty();
        assertThat(find(5_000_000, charge("api", "p.alice", 1, limit))).isPresent();
    }

    @Test
    void oneLimitWithoutRoomRejectsAlthoughTheOthersAreUnknown() {
        Limit limit = TestBackend.limitOf(Algorithm.FIXED_WINDOW, 10, HOUR);
        Charge exhausted = charge("user", "p.alice", 1, limit);
        Limit log = TestBackend.limitOf(Algorithm.SLIDING_LOG, 5, Duration.ofMinutes(1));
        Charge other = charge("address", "i.192.0.2.1", 1, limit, log);
        reject(exhausted);
        assertThat(find(5_000_000, other)).isEmpty();
        Decision.Rejected rejected = find(5_000_000, other, exhausted).orElseThrow();
        assertThat(rejected.quotas()).extracting(Quota::rejected).containsExactly(false, false, true);
        assertThat(rejected.quotas()).extracting(Quota::remaining).containsExactly(10L, 5L, 0L);
        assertThat(rejected.violatedPolicies()).containsExactly("user");
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aBlockLastsUntilItsEndAlthoughTheLimitHasRoom(Algorithm algorithm) {
        Limit limit = TestBackend.limitOf(algorithm, 10, HOUR);
        Charge charge = charge("api", "p.alice", 1, limit);
        List<String> keys = KEYS.of(List.of(charge));
        LimitState blocked =
                LimitState.blocked(LimitState.untouched(limit, REDIS_NOW), REDIS_NOW + 60_000_000, REDIS_NOW);
        cache.put(
                ChargeStates.split(List.of(charge), List.of(blocked)),
                keys,
                new RedisTime(REDIS_NOW, SENT, SENT),
                cache.version(keys));
        Decision.Rejected rejected = find(50_000_000, charge).orElseThrow();
        assertThat(Micros.blockedFor(rejected.decisiveQuota())).isEqualTo(10_000_000);
        assertThat(find(60_000_000, charge)).isEmpty();
    }

    @Test
    void refundsAndAllowedCallsEndARejection() {
        Charge charge = charge("api", "p.alice", 1, TestBackend.limitOf(Algorithm.FIXED_WINDOW, 10, HOUR));
        reject(charge);
        cache.invalidate(KEYS.of(List.of(charge)));
        assertThat(find(5_000_000, charge)).isEmpty();
        reject(charge);
        cache.remove(KEYS.of(List.of(charge)), new RedisTime(REDIS_NOW, SENT + 1, SENT + 1));
        assertThat(find(5_000_000, charge)).isEmpty();
    }
}
