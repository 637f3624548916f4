// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.rejection;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The rejection cache on a model of Redis, with a clock that the test controls. */
class RejectionCacheModelTest {
    private static final long SEED = Long.getLong("weir.test.seed", 1);
    private static final int SCENARIOS = 20_000;
    private static final long SECOND = 1_000_000_000;
    private static final List<Algorithm> ALGORITHMS =
            List.of(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_WINDOW, Algorithm.TOKEN_BUCKET, Algorithm.LEAKY_BUCKET);
    private static final long[] WINDOWS = {1, 7, 100, 350, 1_000, 10_000};

    private final Random random = new Random(SEED);
    private int rejectedFromCache;
    private int leftToRedis;

    @Test
    void rejectsOnlyCallsThatRedisWouldReject() {
        System.out.println("cached rejections: -Dweir.test.seed=" + SEED);
        for (int i = 0; i < SCENARIOS; i++) {
            scenario("scenario " + i + " of -Dweir.test.seed=" + SEED);
        }
        assertThat(rejectedFromCache).as("rejected from the cache").isGreaterThan(SCENARIOS / 10);
        assertThat(leftToRedis).as("left to Redis").isGreaterThan(SCENARIOS / 10);
    }

    private void scenario(String title) {
        Limit limit = limit();
        PolicyLimits policy = new PolicyLimits("api", List.of(limit));
        // The time of Redis at instant 0 of the monotonic clock, in nanoseconds. Redis returns whole microseconds.
        long redisOffset = 1_763_638_242_000_000_000L + random.nextInt(1_000_000);
        long sent = random.nextLong(-SECOND, SECOND);
        long decided = sent + random.nextInt(100_000_000);
        long received = decided + random.nextInt(100_000_000);
        long redisNow = (redisOffset + decided) / 1_000;
        LimitState state = busy(limit, redisNow);
        long rejectedCost = 1 + random.nextInt((int) limit.capacity() + 1);
        RejectionCache cache = new RejectionCache(RedisKeys.of("test"), 16);
        List<String> keys = List.of("key");
        cache.put(
                List.of(new ChargeStates(new Charge(policy, "all", rejectedCost), List.of(state))),
                keys,
                new RedisTime(redisNow, sent, received),
                cache.version(keys));
        for (int i = 0; i < 5; i++) {
            long now = received + random.nextLong(i % 2 == 0 ? 2_000_000 : SECOND);
            long cost = random.nextBoolean() ? rejectedCost : 1 + random.nextInt((int) limit.capacity() + 1);
            Optional<Decision.Rejected> found = cache.find(List.of(new Charge(policy, "all", cost)), keys, now);
            long clock = (redisOffset + now) / 1_000;
            String where = title + ": " + limit + " " + state + " cost " + cost;
            if (found.isPresent()) {
                rejectedFromCache++;
                check(where, found.get().quotas().get(0), policy, state, cost, redisNow + (now - received) / 1_000);
                assertThat(fits(state, limit, cost, clock)).as(where).isFalse();
                long wait = Micros.retryAfter(found.get().decisiveQuota());
                assertThat(wait == Micros.NEVER || fits(state, limit, cost, clock + wait))
                        .as(where + " waits " + wait)
                        .isTrue();
            } else {
                leftToRedis++;
                long latest = redisNow + Math.floorDiv(now - sent + 999, 1_000L);
                assertThat(now - sent > SECOND || fits(state, limit, cost, latest))
                        .as(where + " has room, or has expired")
                        .isTrue();
            }
        }
    }

    private static void check(
            String where, Quota quota, PolicyLimits policy, LimitState state, long cost, long earliest) {
        LimitState then = state.asOf(policy.limits().get(0), earliest);
        assertThat(quota).as(where).isEqualTo(then.quota(new Charge(policy, "all", cost), 0, false, earliest));
    }

    private static boolean fits(LimitState state, Limit limit, long cost, long clock) {
        return state.asOf(limit, clock).hasRoom(limit, cost, clock);
    }

    private Limit limit() {
        Algorithm algorithm = ALGORITHMS.get(random.nextInt(ALGORITHMS.size()));
        Duration window = Duration.ofMillis(WINDOWS[random.nextInt(WINDOWS.length)]);
        long permits = random.nextInt(30);
        boolean bucket = algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET;
        return bucket
                ? Limit.of(algorithm, permits, window, 1 + random.nextInt(30))
                : Limit.of(algorithm, permits, window);
    }

    /** Returns the state of a key with many recent calls. */
    private LimitState busy(Limit limit, long redisNow) {
        List<Long> steps = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            steps.add(random.nextLong(limit.windowMicros() / 10 + 1));
        }
        long now = redisNow - steps.stream().mapToLong(Long::longValue).sum();
        LimitState state = LimitState.untouched(limit, now);
        for (long step : steps) {
            now += step;
            state = state.asOf(limit, now);
            long cost = 1 + random.nextInt(5);
            if (state.hasRoom(limit, cost, now)) {
                state = state.spend(limit, cost, now);
            }
        }
        return state;
    }
}
