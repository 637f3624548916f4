// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each change of permits, burst, window or algorithm on a key that is spent: it forgives nothing that the new limit would still
 * count, and locks nobody out. Another window and another algorithm are other keys in the store: there all starts afresh.
 */
interface ChangeOnLiveKeyContract extends ContractFixture {
    List<Algorithm> ALGORITHMS = List.of(Algorithm.values());

    /** Each algorithm with each change of its limit. */
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

    /** What was spent of ten permits, and when. */
    enum Spent {
        IN_PART(7, 0),
        WHOLLY(10, 0),
        WHOLLY_HALF_A_WINDOW_AGO(10, 2);

        private final long cost;
        private final long partOfWindowAgo;

        Spent(long cost, long partOfWindowAgo) {
            this.cost = cost;
            this.partOfWindowAgo = partOfWindowAgo;
        }
    }

    /** A key that was spent under one limit, and one that was spent as much of another as that has, at the same instant. */
    private List<TestKey> keyAndTwin(Spent spent, Limit before, Limit after) {
        TestKey key = key();
        TestKey twin = key();
        key.spend(before, spent.cost);
        twin.spend(after, Math.min(spent.cost, after.capacity()));
        if (spent.partOfWindowAgo > 0) {
            time().advanceMicros(before.windowMicros() / spent.partOfWindowAgo);
        }
        return List.of(key, twin);
    }

    @ParameterizedTest(name = "{0}, then {1}")
    @MethodSource("changes")
    default void aChangeLocksNobodyOut(Limit before, Limit after) {
        for (Spent spent : Spent.values()) {
            TestKey key = keyAndTwin(spent, before, after).get(0);
            TestKey full = key();
            full.spend(after, after.capacity());
            for (long cost : new long[] {1, after.capacity()}) {
                Quota told = key.peek(after, cost);
                Quota worst = full.peek(after, cost);
                assertThat(told.retryAfterMicros()).as("%s", spent).isLessThanOrEqualTo(worst.retryAfterMicros());
                assertThat(told.resetAfterMicros()).as("%s", spent).isLessThanOrEqualTo(worst.resetAfterMicros());
            }
            time().advanceMicros(key.peek(after, after.capacity()).retryAfterMicros());
            key.spend(after, after.capacity());
        }
    }

    @ParameterizedTest(name = "{0}, then {1}")
    @MethodSource("changes")
    default void whatWasSpentCountsAsSpentUnderTheNewLimitUnlessItIsAnotherKindOfCount(Limit before, Limit after) {
        boolean counts =
                before.algorithm() == after.algorithm() && before.window().equals(after.window());
        for (Spent spent : Spent.values()) {
            List<TestKey> both = keyAndTwin(spent, before, after);
            TestKey key = both.get(0);
            TestKey likeIt = counts ? both.get(1) : key();
            assertThat(key.peek(after)).as("%s", spent).isEqualTo(likeIt.peek(after));
            long admitted = key.remaining(after);
            if (admitted > 0) {
                key.spend(after, admitted);
            }
            key.refusal(after, 1);
        }
    }

    @ParameterizedTest(name = "{0}, then {1}")
    @MethodSource("changes")
    default void aChangeThereAndBackForgivesNothing(Limit before, Limit after) {
        for (Spent spent : List.of(Spent.IN_PART, Spent.WHOLLY)) {
            TestKey key = keyAndTwin(spent, before, after).get(0);
            key.acquire(after, 1);
            assertThat(key.remaining(before)).as("%s", spent).isLessThanOrEqualTo(10 - spent.cost);
        }
    }
}
