// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Finds the greatest number of permits that each algorithm allows in a rolling window. The window includes its first instant and
 * excludes its last. The test plays the schedules that can reach the maximum and some thousand random schedules. It prints the
 * table in {@code docs/reference/algorithms.md}.
 */
class WorstCaseTest {
    private static final Duration WINDOW = Duration.ofMinutes(1);
    private static final long MICROS = WINDOW.toMillis() * 1_000;

    private static final long SEED = Long.getLong("weir.test.seed", 1);

    /** Returns the name of each algorithm in the table, its limit, and the greatest number that it allows for n permits. */
    private static Stream<Arguments> bounds() {
        return Stream.of(
                bound("fixed-window", n -> Limit.of(Algorithm.FIXED_WINDOW, n, WINDOW), n -> 2 * n - 1),
                bound("sliding-window", n -> Limit.of(Algorithm.SLIDING_WINDOW, n, WINDOW), n -> 2 * n - 2),
                bound("sliding-log", n -> Limit.of(Algorithm.SLIDING_LOG, n, WINDOW), n -> n),
                bound("token-bucket", n -> Limit.of(Algorithm.TOKEN_BUCKET, n, WINDOW), n -> n + n - 1),
                bound(
                        "token-bucket, burst n / 2",
                        n -> Limit.of(Algorithm.TOKEN_BUCKET, n, WINDOW, n / 2),
                        n -> n / 2 + n - 1),
                bound("leaky-bucket", n -> Limit.of(Algorithm.LEAKY_BUCKET, n, WINDOW), n -> 1 + n - 1),
                bound("leaky-bucket, burst 5", n -> Limit.of(Algorithm.LEAKY_BUCKET, n, WINDOW, 5), n -> 5 + n - 1));
    }

    /** A function from a number of permits to a limit. */
    private interface OfPermits {
        Limit limit(long permits);
    }

    private static Arguments bound(String name, OfPermits of, LongUnaryOperator most) {
        return Arguments.of(name, of, most);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("bounds")
    void theWorstCaseIsTheDocumentedOne(String name, OfPermits of, LongUnaryOperator most) {
        for (long permits : new long[] {10, 100, 1_000}) {
            Limit limit = of.limit(permits);
            long found = Math.max(mostOfSchedules(limit), mostAtRandom(limit));
            System.out.printf("at most in a span of one window: %d of %s, -Dweir.test.seed=%d%n", found, limit, SEED);
            assertThat(found)
                    .as("%s of %d, -Dweir.test.seed=%d", name, permits, SEED)
                    .isEqualTo(most.applyAsLong(permits));
        }
    }

    /** Spends once, waits, spends a burst, and then spends each returned permit at once. */
    private static long mostOfSchedules(Limit limit) {
        long capacity = limit.capacity();
        long[] amounts = LongStream.of(0, 1, 2, capacity / 2, capacity - 1, capacity)
                .filter(amount -> amount >= 0)
                .distinct()
                .toArray();
        long[] waits = {0, 1, 2, MICROS / 3, MICROS / 2, MICROS - 2, MICROS - 1, MICROS, MICROS + 1, 2 * MICROS - 1};
        long most = 0;
        for (long opener : amounts) {
            for (long wait : waits) {
                for (long burst : amounts) {
                    Caller caller = new Caller(limit);
                    caller.spendUpTo(opener);
                    caller.advance(wait);
                    caller.spendUpTo(burst);
                    caller.spendAllThatReturns(3 * MICROS);
                    most = Math.max(most, caller.allowed.maxCostInASpan(MICROS));
                }
            }
        }
        return most;
    }

    private static long mostAtRandom(Limit limit) {
        Random random = new Random(SEED);
        long most = 0;
        for (int schedule = 0; schedule < 1_000; schedule++) {
            Caller caller = new Caller(limit);
            for (int call = 0; call < 50; call++) {
                caller.advance(
                        switch (random.nextInt(6)) {
                            case 0 -> 1 + random.nextLong(3);
                            case 1 -> random.nextLong(2 * MICROS);
                            case 2 -> MICROS - random.nextLong(3);
                            case 3 -> random.nextLong(MICROS / limit.permits() + 1);
                            default -> caller.untilMoreReturns();
                        });
                caller.spendUpTo(random.nextBoolean() ? Long.MAX_VALUE : 1 + random.nextLong(limit.capacity()));
            }
            most = Math.max(most, caller.allowed.maxCostInASpan(MICROS));
        }
        return most;
    }

    /** The only caller of a key. */
    private static final class Caller {
        final AllowedCalls allowed = new AllowedCalls();
        private final ManualTime time = new ManualTime();
        private final Limit limit;
        private LimitState state;

        Caller(Limit limit) {
            this.limit = limit;
            this.state = LimitState.untouched(limit, time.micros());
        }

        void advance(long micros) {
            time.advanceMicros(micros);
            state = state.asOf(limit, time.micros());
        }

        void spendUpTo(long amount) {
            long cost = Math.min(amount, state.remaining(limit, time.micros()));
            if (cost > 0) {
                assertThat(state.hasRoom(limit, cost, time.micros())).isTrue();
                state = state.spend(limit, cost, time.micros());
                allowed.add(time.micros(), cost);
            }
        }

        long untilMoreReturns() {
            long remaining = state.remaining(limit, time.micros());
            return remaining == limit.capacity() ? 1 : state.retryAfterMicros(limit, remaining + 1, time.micros());
        }

        void spendAllThatReturns(long forMicros) {
            long end = time.micros() + forMicros;
            while (time.micros() < end) {
                spendUpTo(Long.MAX_VALUE);
                advance(untilMoreReturns());
            }
        }
    }
}
