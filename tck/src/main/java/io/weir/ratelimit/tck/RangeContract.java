// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Limits at the boundaries of the legal range and long runs: rounding neither loses nor creates permits. */
interface RangeContract extends ContractFixture {

    @EachBoundaryLimit
    default void allowsExactlyTheLimitOverItsRange(Algorithm algorithm, long permits, Duration window) {
        Limit limit = limitOf(algorithm, permits, window);
        TestKey key = key();
        key.rejection(limit, permits + 1);
        if (permits > 1) {
            assertThat(key.spend(limit, permits - 1).quotas().get(0).remaining())
                    .isEqualTo(1);
            key.rejection(limit, 2);
        }
        key.spend(limit, 1);
        assertThat(key.rejection(limit, 1).remaining()).isZero();
    }

    @EachBoundaryLimit
    default void halfOfThePermitsReturnInHalfAWindow(Algorithm algorithm, long permits, Duration window) {
        Limit limit = limitOf(algorithm, permits, window);
        TestKey key = key();
        key.spend(limit, permits);
        time().advanceMicros(limit.windowMicros() * (algorithm == Algorithm.SLIDING_WINDOW ? 3 : 1) / 2);
        boolean atOnce = algorithm == Algorithm.FIXED_WINDOW || algorithm == Algorithm.SLIDING_LOG;
        assertThat(key.remaining(limit)).isEqualTo(atOnce ? 0 : permits / 2);
    }

    @ParameterizedTest(name = "{0}/{1} at {2} a call")
    @CsvSource({"7, PT1S, 1", "3, PT10S, 1", "30000, PT1S, 27001", "400000, PT1S, 399989"})
    default void bucketKeepsItsRateOverAThousandWindows(long permits, Duration window, long cost) {
        Limit limit = Limit.of(Algorithm.TOKEN_BUCKET, permits, window);
        TestKey key = key();
        key.spend(limit, permits);
        long start = time().micros();
        long next = start + QuotaMicros.retryAfter(key.peek(limit, cost));
        long spent = 0;
        for (int passed = 1; passed <= 1_000; passed++) {
            long end = start + passed * limit.windowMicros();
            long before = spent;
            while (next <= end) {
                time().advanceMicros(next - time().micros());
                Quota left = key.spend(limit, cost).quotas().get(0);
                spent += cost;
                next = time().micros() + waitAfter(left, key, limit, cost);
            }
            assertThat(spent - before).isBetween(permits - cost, permits + cost);
            if (passed % 100 == 0) {
                time().advanceMicros(end - time().micros());
                assertThat(spent + key.remaining(limit)).isEqualTo(passed * permits);
            }
        }
    }

    /**
     * The burst is at least the cost and at least the permits that return in a time unit. Permits that return to a full bucket
     * are lost.
     */
    @ParameterizedTest(name = "{0} {1}/{2} burst {3} at {4} a call")
    @CsvSource({
        "TOKEN_BUCKET, 1000000, PT24H, 1000000, 899989", "LEAKY_BUCKET, 1000000, PT24H, 3000000, 2999999",
        "TOKEN_BUCKET, 1000000000, P30D, 700000000, 699999000", "LEAKY_BUCKET, 1000000000, P30D, 999999937, 999999000",
        "TOKEN_BUCKET, 1000003, PT1S, 2000000, 999983", "LEAKY_BUCKET, 1000003, PT1S, 1000003, 1000003",
        "TOKEN_BUCKET, 7, PT1S, 50, 5", "LEAKY_BUCKET, 7, PT1S, 1, 1",
        "TOKEN_BUCKET, 3, PT10S, 2, 2", "LEAKY_BUCKET, 3, PT10S, 1, 1",
        "TOKEN_BUCKET, 7, PT0.001S, 9, 4", "LEAKY_BUCKET, 1, PT0.001S, 1, 1",
        "TOKEN_BUCKET, 9007199254, PT1S, 9007199254, 9007180000", "LEAKY_BUCKET, 30000, PT1S, 27001, 27000"
    })
    default void bucketLosesLessThanAPermitOverAThousandWindows(
            Algorithm algorithm, long permits, Duration window, long burst, long cost) {
        Limit limit = Limit.of(algorithm, permits, window, burst);
        TestKey key = key();
        long start = time().micros();
        long next = start;
        long spent = 0;
        for (int passed = 1; passed <= 1_000; passed++) {
            long end = start + passed * limit.windowMicros();
            while (next <= end) {
                time().advanceMicros(next - time().micros());
                Quota left = key.spend(limit, cost).quotas().get(0);
                spent += cost;
                next = time().micros() + waitAfter(left, key, limit, cost);
            }
            if (passed % 50 == 0 || passed == 1) {
                time().advanceMicros(end - time().micros());
                long most = burst + passed * permits;
                assertThat(spent).as("after %d windows", passed).isBetween(most - cost, most);
                assertThat(spent + key.remaining(limit))
                        .as("after %d windows", passed)
                        .isBetween(most - 1, most);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"FIXED_WINDOW", "SLIDING_WINDOW"})
    default void onlySlidingWindowsCountPermitsOfThePreviousWindow(Algorithm algorithm) {
        Limit limit = Limit.of(algorithm, 100, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 1);
        time().advanceMicros(limit.windowMicros() - 1_000);
        for (int call = 0; call < 99; call++) {
            key.spend(limit, 1);
            time().advanceMicros(10);
        }
        int allowed = 0;
        time().advanceMicros(10);
        for (int call = 0; call < 1_000; call++) {
            allowed += key.acquire(limit, 1).allowed() ? 1 : 0;
            time().advanceMicros(1);
        }
        assertThat(allowed).isEqualTo(algorithm == Algorithm.FIXED_WINDOW ? 100 : 0);
    }

    private static long waitAfter(Quota left, TestKey key, Limit limit, long cost) {
        if (left.remaining() >= cost) {
            return 0;
        }
        return cost == left.remaining() + 1
                ? QuotaMicros.nextPermitAfter(left)
                : QuotaMicros.retryAfter(key.peek(limit, cost));
    }

    @Test
    default void leakyBucketNeverExceedsItsRate() {
        Limit limit = Limit.of(Algorithm.LEAKY_BUCKET, 7, Duration.ofSeconds(1));
        TestKey key = key();
        assertThat(maxCallsInASpan(limit, instantsOfAllowedCalls(key, limit, 400)))
                .isEqualTo(7);
    }

    @Test
    default void fixedWindowAllowsNearlyTwiceTheLimit() {
        Limit limit = Limit.of(Algorithm.FIXED_WINDOW, 100, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 1);
        time().advanceMicros(limit.windowMicros() - 1);
        List<Long> allowed = instantsOfAllowedCalls(key, limit, 400);
        assertThat(maxCallsInASpan(limit, allowed)).isEqualTo(199);
    }

    @Test
    default void slidingWindowAllowsLessThanTwiceTheLimit() {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 1);
        time().advanceMicros(limit.windowMicros() - 1);
        List<Long> allowed = instantsOfAllowedCalls(key, limit, 400);
        assertThat(maxCallsInASpan(limit, allowed)).isBetween(190L, 199L);
    }

    /** Random calls close to the boundaries of windows. {@code weir.test.seed=<number>} repeats a run of {@code weir.test.full=true}. */
    @ParameterizedTest(name = "{0}/{1}")
    @CsvSource({"1, PT0.001S", "7, PT1S", "30, PT1M", "30, P366D"})
    default void slidingLogNeverExceedsTheLimit(long permits, Duration window) {
        long seed = Long.getLong(
                "weir.test.seed",
                Boolean.getBoolean("weir.test.full")
                        ? ThreadLocalRandom.current().nextLong()
                        : 1);
        System.out.printf("spans of %d/%s: -Dweir.test.seed=%d%n", permits, window, seed);
        Random random = new Random(seed);
        Limit limit = Limit.of(Algorithm.SLIDING_LOG, permits, window);
        TestKey key = key();
        List<Long> allowed = new ArrayList<>();
        while (allowed.size() < 40 * permits) {
            long cost = random.nextInt(3) == 0 ? 1 + random.nextLong(permits) : 1;
            Decision decision = key.acquire(limit, cost);
            for (long permit = 0; decision.allowed() && permit < cost; permit++) {
                allowed.add(time().micros());
            }
            time().advanceMicros(randomStep(random, limit, decision.quotas().get(0)));
        }
        assertThat(maxCallsInASpan(limit, allowed))
                .as("-Dweir.test.seed=%d", seed)
                .isEqualTo(permits);
    }

    private static long randomStep(Random random, Limit limit, Quota quota) {
        long step = switch (random.nextInt(10)) {
            case 0, 1, 2 -> 0;
            case 3, 4 -> random.nextLong(4);
            case 5 -> random.nextLong(limit.windowMicros());
            case 6 -> limit.windowMicros() - random.nextLong(3);
            case 7 -> QuotaMicros.resetAfter(quota) - random.nextLong(2);
            case 8 -> QuotaMicros.nextPermitAfter(quota) - random.nextLong(2);
            default -> QuotaMicros.retryAfter(quota) - random.nextLong(2);
        };
        return Math.max(0, step);
    }

    /** Returns the instants of allowed calls with a cost of 1, for a caller that waits for the retry-after of each rejection. */
    private List<Long> instantsOfAllowedCalls(TestKey key, Limit limit, int calls) {
        List<Long> allowed = new ArrayList<>();
        for (int call = 0; call < calls; call++) {
            Quota quota = key.acquire(limit, 1).quotas().get(0);
            if (quota.rejected()) {
                time().advanceMicros(QuotaMicros.retryAfter(quota));
            } else {
                allowed.add(time().micros());
            }
        }
        return allowed;
    }

    private static long maxCallsInASpan(Limit limit, List<Long> allowed) {
        return allowed.stream()
                .mapToLong(from -> allowed.stream()
                        .filter(at -> at >= from && at < from + limit.windowMicros())
                        .count())
                .max()
                .orElseThrow();
    }
}
