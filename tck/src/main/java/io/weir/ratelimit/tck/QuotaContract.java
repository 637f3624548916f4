// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The times of a quota are exact to the microsecond, and a rejection does not change them. */
interface QuotaContract extends ContractFixture {

    @EachBoundaryLimit
    default void retryAfterIsTheShortestSufficientWait(Algorithm algorithm, long permits, Duration window) {
        Limit limit = limitOf(algorithm, permits, window);
        TestKey key = key();
        key.spend(limit, permits);
        time().advanceMicros(limit.windowMicros() / 3 + 1);
        long[] costs = LongStream.of(permits, 1, permits / 2 + 1, permits, permits / 3 + 1, 1, permits)
                .toArray();
        for (long cost : costs) {
            Quota quota = key.peek(limit, cost);
            if (quota.rejected()) {
                time().advanceMicros(QuotaMicros.retryAfter(quota) - 1);
                assertThat(QuotaMicros.retryAfter(key.rejection(limit, cost))).isEqualTo(1);
                time().advanceMicros(1);
            }
            assertThat(QuotaMicros.retryAfter(key.spend(limit, cost).quotas().get(0)))
                    .isZero();
        }
    }

    @EachBoundaryLimit
    default void remainingIncreasesExactlyAtNextPermitAfter(Algorithm algorithm, long permits, Duration window) {
        Limit limit = limitOf(algorithm, permits, window);
        TestKey key = key();
        long spent = permits;
        for (int step = 0; step < 8; step++) {
            Quota quota = key.spend(limit, spent).quotas().get(0);
            assertThat(QuotaMicros.nextPermitAfter(quota)).isPositive();
            assertThat(QuotaMicros.nextPermitAfter(key.peek(limit))).isEqualTo(QuotaMicros.nextPermitAfter(quota));
            time().advanceMicros(QuotaMicros.nextPermitAfter(quota) - 1);
            assertThat(key.remaining(limit)).isEqualTo(quota.remaining());
            time().advanceMicros(1);
            spent = key.remaining(limit) - quota.remaining();
            assertThat(spent).isPositive();
        }
    }

    @EachBoundaryLimit
    default void untouchedKeyHasNoWaits(Algorithm algorithm, long permits, Duration window) {
        Limit limit = limitOf(algorithm, permits, window);
        Quota quota = key().peek(limit, permits);
        assertThat(quota)
                .isEqualTo(Quota.builder("api", "api").window(permits, window).build());
    }

    @EachBoundaryLimit
    default void keyEqualsAnUntouchedKeyExactlyAtResetAfter(Algorithm algorithm, long permits, Duration window) {
        Limit limit = limitOf(algorithm, permits, window);
        TestKey key = key();
        key.spend(limit, permits);
        time().advanceMicros(limit.windowMicros() / 2 + 1);
        for (int again = 0; again < 3; again++) {
            if (key.remaining(limit) > 0) {
                key.spend(limit, 1);
            }
            Quota untouched = key().peek(limit, permits);
            time().advanceMicros(QuotaMicros.resetAfter(key.peek(limit)) - 1);
            assertThat(QuotaMicros.resetAfter(key.peek(limit, permits))).isEqualTo(1);
            assertThat(key.remaining(limit)).isLessThan(permits);
            time().advanceMicros(1);
            assertThat(key.peek(limit, permits)).isEqualTo(untouched);
        }
        key.spend(limit, permits);
        key.rejection(limit, 1);
    }

    @ParameterizedTest(name = "full, {0} ms later: {2} ms for {1}")
    @CsvSource({"30000, 1, 30600", "0, 1, 60600", "59999, 1, 601", "30000, 50, 60000", "0, 100, 120000"})
    default void fullSlidingWindowHasAnExactRetryAfter(long laterMillis, long cost, long waitMillis) {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofSeconds(60));
        TestKey key = key();
        key.spend(limit, 100);
        time().advanceMicros(laterMillis * 1_000);
        assertThat(QuotaMicros.retryAfter(key.rejection(limit, cost))).isEqualTo(waitMillis * 1_000);
    }

    @Test
    default void slidingWindowPermitsReturnBeforeTheWindowEnds() {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofSeconds(60));
        TestKey key = key();
        key.spend(limit, 100);
        time().advanceMicros(80_000_000);
        assertThat(key.spend(limit, 33).quotas().get(0).remaining()).isZero();
        assertThat(QuotaMicros.retryAfter(key.rejection(limit, 18))).isEqualTo(10_600_000);
    }

    @Test
    default void slidingWindowFollowsItsFormula() {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofSeconds(60));
        TestKey key = key();
        key.spend(limit, 8);
        time().advanceMicros(75_000_000);
        assertThat(key.remaining(limit)).as("10 - 8 x 3/4").isEqualTo(4);
        time().advanceMicros(1);
        assertThat(key.remaining(limit)).isEqualTo(4);
        time().advanceMicros(-2);
        assertThat(key.remaining(limit)).isEqualTo(3);
        time().advanceMicros(1);
        Quota quota = key.spend(limit, 2).quotas().get(0);
        assertThat(quota.remaining()).as("10 - 8 x 3/4 - 2").isEqualTo(2);
        assertThat(QuotaMicros.nextPermitAfter(quota))
                .as("8 x (1 - e) = 5 at e = 3/8")
                .isEqualTo(7_500_000);
        assertThat(QuotaMicros.resetAfter(quota))
                .as("this window's rest and the next")
                .isEqualTo(105_000_000);
    }

    @ParameterizedTest(name = "{0} 10/1s burst 20, {1} spent: {2} ms until full")
    @CsvSource({
        "TOKEN_BUCKET, 1, 100", "TOKEN_BUCKET, 7, 700", "TOKEN_BUCKET, 20, 2000",
        "LEAKY_BUCKET, 1, 100", "LEAKY_BUCKET, 7, 700", "LEAKY_BUCKET, 20, 2000"
    })
    default void bucketResetAfterIsItsRefillTime(Algorithm algorithm, long spent, long resetMillis) {
        Limit limit = Limit.of(algorithm, 10, Duration.ofSeconds(1), 20);
        Quota quota = key().spend(limit, spent).quotas().get(0);
        assertThat(QuotaMicros.resetAfter(quota)).isEqualTo(resetMillis * 1_000);
        assertThat(QuotaMicros.nextPermitAfter(quota)).isEqualTo(100_000);
        assertThat(quota.remaining()).isEqualTo(20 - spent);
    }

    @Test
    default void fixedWindowReturnsAllPermitsAtItsEnd() {
        Limit limit = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofSeconds(60));
        TestKey key = key();
        key.spend(limit, 2);
        time().advanceMicros(15_000_000);
        Quota quota = key.spend(limit, 3).quotas().get(0);
        assertThat(quota.remaining()).isEqualTo(5);
        assertThat(QuotaMicros.nextPermitAfter(quota)).isEqualTo(45_000_000);
        assertThat(QuotaMicros.resetAfter(quota)).isEqualTo(45_000_000);
        assertThat(QuotaMicros.retryAfter(key.rejection(limit, 6))).isEqualTo(45_000_000);
        assertThat(QuotaMicros.retryAfter(key.rejection(limit, 11))).isEqualTo(QuotaMicros.NEVER);
    }

    @EachAlgorithm
    default void peekSpendsNothingAndPredictsTheDecision(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofSeconds(60));
        TestKey key = key();
        for (int call = 0; call < 50; call++) {
            long cost = 1L + call % 4;
            Quota peeked = key.peek(limit, cost);
            assertThat(key.peek(limit, cost)).isEqualTo(peeked);
            if (peeked.rejected()) {
                assertThat(key.rejection(limit, cost)).isEqualTo(peeked);
            } else {
                assertThat(key.spend(limit, cost).quotas().get(0).remaining()).isEqualTo(peeked.remaining() - cost);
            }
            time().advanceMicros(4_700_001);
        }
    }

    @EachAlgorithm
    default void quotaOfAnAllowedCallEqualsASubsequentPeek(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofSeconds(60));
        TestKey key = key();
        for (int call = 0; call < 5; call++) {
            Quota quota = key.spend(limit, 1).quotas().get(0);
            assertThat(key.peek(limit, 1)).isEqualTo(quota);
            time().advanceMicros(1_700_001);
        }
    }

    @EachAlgorithm
    default void rejectionsDoNotChangeTheKey(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 8);
        time().advanceMicros(3_000_017);
        Quota before = key.peek(limit, 5);
        for (int call = 0; call < 100; call++) {
            assertThat(key.rejection(limit, 5)).isEqualTo(before);
        }
        assertThat(key.peek(limit, 5)).isEqualTo(before);
    }

    @EachAlgorithm
    default void rejectionsDoNotDelayRecovery(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey idle = key();
        TestKey polling = key();
        idle.spend(limit, 10);
        polling.spend(limit, 10);
        for (int call = 0; call < 200; call++) {
            time().advanceMicros(777_777);
            polling.rejection(limit, 11);
            assertThat(polling.peek(limit, 10)).isEqualTo(idle.peek(limit, 10));
        }
        assertThat(idle.remaining(limit)).isEqualTo(10);
    }

    @EachAlgorithm
    default void pollingDoesNotExtendRetryAfter(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofSeconds(1));
        TestKey polling = key();
        polling.spend(limit, 10);
        long due = time().micros() + QuotaMicros.retryAfter(polling.rejection(limit, 1));
        long step = (due - time().micros()) / 97;
        while (time().micros() + step < due) {
            time().advanceMicros(step);
            assertThat(QuotaMicros.retryAfter(polling.rejection(limit, 1))).isEqualTo(due - time().micros());
        }
        time().advanceMicros(due - time().micros());
        polling.spend(limit, 1);
    }

    @EachAlgorithm
    default void rejectionDoesNotStartAWindow(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey rejected = key();
        TestKey untouched = key();
        rejected.rejection(limit, 11);
        time().advanceMicros(45_000_000);
        assertThat(rejected.spend(limit, 10).quotas())
                .isEqualTo(untouched.spend(limit, 10).quotas());
    }
}
