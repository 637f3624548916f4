// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.WindowLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A change of permits, burst, window or algorithm of a limit whose key has spent permits. The change returns no permits that count under
 * the new limit, and no wait exceeds the recovery of the new limit. A different window or algorithm has a different stored key, which is
 * untouched.
 */
interface ChangeOnLiveKeyContract extends ContractFixture {
    List<Algorithm> ALGORITHMS = List.of(Algorithm.values());

    /** Returns each algorithm with each change of its limit. */
    static Stream<Arguments> changes() {
        List<Arguments> all = new ArrayList<>();
        for (Algorithm algorithm : ALGORITHMS) {
            List<Limit> changed = new ArrayList<>();
            for (long permits :
                    new long[] {1, 9, 11, 100, algorithm == Algorithm.SLIDING_LOG ? Limit.MAX_LOG_PERMITS : 1_000_000
                    }) {
                changed.add(limit(algorithm, permits, Duration.ofMinutes(1)));
            }
            for (Duration window : List.of(Duration.ofMillis(1), Duration.ofSeconds(7), Duration.ofDays(1))) {
                changed.add(limit(algorithm, 10, window));
            }
            if (algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET) {
                for (long burst : new long[] {1, 9, 11, 100}) {
                    changed.add(Limit.of(algorithm, 10, Duration.ofMinutes(1), burst));
                    changed.add(Limit.of(algorithm, 5, Duration.ofMinutes(1), burst));
                }
            }
            ALGORITHMS.forEach(other -> changed.add(limit(other, 10, Duration.ofMinutes(1))));
            Limit before = limit(algorithm, 10, Duration.ofMinutes(1));
            changed.forEach(after -> all.add(Arguments.of(before, after)));
        }
        return all.stream();
    }

    private static Limit limit(Algorithm algorithm, long permits, Duration window) {
        return algorithm == Algorithm.LEAKY_BUCKET
                ? Limit.of(algorithm, permits, window, permits)
                : Limit.of(algorithm, permits, window);
    }

    /** The permits that a key has spent of ten, and the time since then. */
    enum Spent {
        PARTLY(7, 0),
        FULLY(10, 0),
        FULLY_HALF_A_WINDOW_AGO(10, 2);

        private final long cost;
        private final long windowDivisor;

        Spent(long cost, long windowDivisor) {
            this.cost = cost;
            this.windowDivisor = windowDivisor;
        }
    }

    /** Returns a key that spent permits under the old limit, and a key that spent as many permits as possible under the new limit. */
    private List<TestKey> keyAndReference(Spent spent, Limit before, Limit after) {
        TestKey key = key();
        TestKey reference = key();
        key.spend(before, spent.cost);
        reference.spend(after, Math.min(spent.cost, after.capacity()));
        if (spent.windowDivisor > 0) {
            time().advanceMicros(before.windowMicros() / spent.windowDivisor);
        }
        return List.of(key, reference);
    }

    @ParameterizedTest(name = "{0}, then {1}")
    @MethodSource("changes")
    default void changeNeverExceedsTheRecoveryOfAFullKey(Limit before, Limit after) {
        for (Spent spent : Spent.values()) {
            TestKey key = keyAndReference(spent, before, after).get(0);
            TestKey full = key();
            full.spend(after, after.capacity());
            for (long cost : new long[] {1, after.capacity()}) {
                Quota quota = key.peek(after, cost);
                Quota worst = full.peek(after, cost);
                assertThat(QuotaMicros.retryAfter(quota))
                        .as("%s", spent)
                        .isLessThanOrEqualTo(QuotaMicros.retryAfter(worst));
                assertThat(QuotaMicros.resetAfter(quota))
                        .as("%s", spent)
                        .isLessThanOrEqualTo(QuotaMicros.resetAfter(worst));
            }
            time().advanceMicros(QuotaMicros.retryAfter(key.peek(after, after.capacity())));
            key.spend(after, after.capacity());
        }
    }

    @ParameterizedTest(name = "{0}, then {1}")
    @MethodSource("changes")
    default void spentPermitsCountUnderTheNewLimitOfTheSameStoredKey(Limit before, Limit after) {
        boolean counts = before instanceof WindowLimit limit
                && after.uses(limit.algorithm())
                && before.window().equals(after.window());
        for (Spent spent : Spent.values()) {
            List<TestKey> pair = keyAndReference(spent, before, after);
            TestKey key = pair.get(0);
            TestKey expected = counts ? pair.get(1) : key();
            assertThat(key.peek(after)).as("%s", spent).isEqualTo(expected.peek(after));
            long allowed = key.remaining(after);
            if (allowed > 0) {
                key.spend(after, allowed);
            }
            key.rejection(after, 1);
        }
    }

    @ParameterizedTest(name = "{0}, then {1}")
    @MethodSource("changes")
    default void changeAndReversalReturnNoPermits(Limit before, Limit after) {
        for (Spent spent : List.of(Spent.PARTLY, Spent.FULLY)) {
            TestKey key = keyAndReference(spent, before, after).get(0);
            key.acquire(after, 1);
            assertThat(key.remaining(before)).as("%s", spent).isLessThanOrEqualTo(10 - spent.cost);
        }
    }
}
