// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Remembered refusals beside a Redis whose clock the test knows. */
class RefusalMemoryModelTest {
    private static final long SEED = Long.getLong("weir.test.seed", 1);
    private static final int SCENARIOS = 20_000;
    private static final long SECOND = 1_000_000_000;
    private static final List<Algorithm> ALGORITHMS =
            List.of(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_WINDOW, Algorithm.TOKEN_BUCKET, Algorithm.LEAKY_BUCKET);
    private static final long[] WINDOWS = {1, 7, 100, 350, 1_000, 10_000};

    private final Random random = new Random(SEED);
    private int told;
    private int withheld;

    @Test
    void whatIsToldIsWhatRedisWouldSay() {
        System.out.println("remembered refusals: -Dweir.test.seed=" + SEED);
        for (int i = 0; i < SCENARIOS; i++) {
            scenario("scenario " + i + " of -Dweir.test.seed=" + SEED);
        }
        assertThat(told).as("refused from memory").isGreaterThan(SCENARIOS / 10);
        assertThat(withheld).as("left to Redis").isGreaterThan(SCENARIOS / 10);
    }

    private void scenario(String title) {
        Limit limit = limit();
        PolicyLimits policy = new PolicyLimits("api", List.of(limit));
        // Nanoseconds of Redis's clock where the monotonic clock is at 0; Redis tells whole microseconds.
        long ahead = 1_763_638_242_000_000_000L + random.nextInt(1_000_000);
        long sent = random.nextLong(-SECOND, SECOND);
        long decided = sent + random.nextInt(100_000_000);
        long received = decided + random.nextInt(100_000_000);
        long redisNow = (ahead + decided) / 1_000;
        LimitState state = busy(limit, redisNow);
        long asked = 1 + random.nextInt((int) limit.capacity() + 1);
        RefusalMemory memory = new RefusalMemory(16);
        List<String> keys = List.of("key");
        memory.remember(
                List.of(new Charge(policy, "all", asked)),
                keys,
                List.of(state),
                redisNow,
                sent,
                received,
                memory.stamp(keys));
        for (int i = 0; i < 5; i++) {
            long now = received + random.nextLong(i % 2 == 0 ? 2_000_000 : SECOND);
            long cost = random.nextBoolean() ? asked : 1 + random.nextInt((int) limit.capacity() + 1);
            Optional<Decision.Rejected> recalled = memory.recall(List.of(new Charge(policy, "all", cost)), keys, now);
            long clock = (ahead + now) / 1_000;
            String where = title + ": " + limit + " " + state + " cost " + cost;
            if (recalled.isPresent()) {
                told++;
                check(where, recalled.get().quotas().get(0), policy, state, cost, redisNow + (now - received) / 1_000);
                assertThat(fits(state, limit, cost, clock)).as(where).isFalse();
                long wait = recalled.get().decisive().retryAfterMicros();
                assertThat(wait == Quota.NEVER || fits(state, limit, cost, clock + wait))
                        .as(where + " waits " + wait)
                        .isTrue();
            } else {
                withheld++;
                long latest = redisNow + Math.floorDiv(now - sent + 999, 1_000L);
                assertThat(now - sent > SECOND || fits(state, limit, cost, latest))
                        .as(where + " has room, or is old")
                        .isTrue();
            }
        }
    }

    private static void check(
            String where, Quota quota, PolicyLimits policy, LimitState state, long cost, long earliest) {
        LimitState then = state.at(policy.limits().get(0), earliest);
        assertThat(quota).as(where).isEqualTo(policy.quota(0, then, cost, 0, false, earliest));
    }

    private static boolean fits(LimitState state, Limit limit, long cost, long clock) {
        return state.at(limit, clock).fits(limit, cost, clock);
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

    /** The state of a key that was used often until now. */
    private LimitState busy(Limit limit, long redisNow) {
        List<Long> steps = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            steps.add(random.nextLong(limit.windowMicros() / 10 + 1));
        }
        long now = redisNow - steps.stream().mapToLong(Long::longValue).sum();
        LimitState state = LimitState.untouched(limit, now);
        for (long step : steps) {
            now += step;
            state = state.at(limit, now);
            long cost = 1 + random.nextInt(5);
            if (state.fits(limit, cost, now)) {
                state = state.spend(limit, cost, now);
            }
        }
        return state;
    }
}
