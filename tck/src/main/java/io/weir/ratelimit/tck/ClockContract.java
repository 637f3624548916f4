// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A clock that steps back: no number is negative, and no wait exceeds that of a key that is exhausted now. */
interface ClockContract extends ContractFixture {
    long HOUR = 3_600_000_000L;

    @ParameterizedTest(name = "{0} {1}/{2}")
    @CsvSource({
        "FIXED_WINDOW, 10, PT1S", "FIXED_WINDOW, 10, PT1M", "FIXED_WINDOW, 1000000, PT24H",
        "SLIDING_WINDOW, 10, PT1S", "SLIDING_WINDOW, 10, PT1M", "SLIDING_WINDOW, 1000000, PT24H",
        "TOKEN_BUCKET, 10, PT1S", "TOKEN_BUCKET, 10, PT1M", "TOKEN_BUCKET, 1000000, PT24H",
        "LEAKY_BUCKET, 10, PT1S", "LEAKY_BUCKET, 10, PT1M", "LEAKY_BUCKET, 1000000, PT24H",
        "SLIDING_LOG, 10, PT1S", "SLIDING_LOG, 10, PT1M", "SLIDING_LOG, 10000, PT24H"
    })
    default void stepBackNeverExceedsTheWaitOfAFullKey(Algorithm algorithm, long permits, Duration window) {
        Limit limit = limitOf(algorithm, permits, window);
        TestKey key = key();
        key.spend(limit, permits);
        time().advanceMicros(limit.windowMicros() + limit.windowMicros() / 3);
        key.spend(limit, 1);
        time().advanceMicros(-HOUR);
        assertAtMostTheWaitsOfAFullKey(key, limit);
    }

    @EachAlgorithm
    default void permitsSpentInTheFutureCountAsSpentNow(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 10);
        time().advanceMicros(24 * HOUR);
        key.spend(limit, 10);
        time().advanceMicros(-24 * HOUR);
        assertAtMostTheWaitsOfAFullKey(key, limit);
    }

    @ParameterizedTest
    @CsvSource({
        "FIXED_WINDOW, 5000000", "FIXED_WINDOW, 3600000000",
        "SLIDING_WINDOW, 5000000", "SLIDING_WINDOW, 3600000000",
        "TOKEN_BUCKET, 5000000", "TOKEN_BUCKET, 3600000000",
        "LEAKY_BUCKET, 5000000", "LEAKY_BUCKET, 3600000000",
        "SLIDING_LOG, 5000000", "SLIDING_LOG, 3600000000"
    })
    default void retryAfterIsSufficientAfterAStepBack(Algorithm algorithm, long backMicros) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 10);
        time().advanceMicros(-backMicros);
        time().advanceMicros(QuotaMicros.retryAfter(key.rejection(limit, 1)));
        key.spend(limit, 1);
    }

    @EachAlgorithm
    default void waitsAreExactAfterAStepBackAndASpend(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 9);
        time().advanceMicros(-HOUR);
        key.spend(limit, 1);
        for (long cost : new long[] {1, 10}) {
            time().advanceMicros(QuotaMicros.retryAfter(key.rejection(limit, cost)) - 1);
            assertThat(QuotaMicros.retryAfter(key.rejection(limit, cost))).isEqualTo(1);
            time().advanceMicros(1);
            key.spend(limit, cost);
        }
    }

    private void assertAtMostTheWaitsOfAFullKey(TestKey key, Limit limit) {
        TestKey full = key();
        full.spend(limit, limit.capacity());
        for (long cost : new long[] {1, limit.capacity()}) {
            Quota quota = key.peek(limit, cost);
            Quota worst = full.peek(limit, cost);
            assertThat(quota.remaining()).isBetween(0L, limit.capacity());
            assertThat(QuotaMicros.retryAfter(quota)).isLessThanOrEqualTo(QuotaMicros.retryAfter(worst));
            assertThat(QuotaMicros.resetAfter(quota)).isLessThanOrEqualTo(QuotaMicros.resetAfter(worst));
            assertThat(QuotaMicros.nextPermitAfter(quota)).isLessThanOrEqualTo(QuotaMicros.nextPermitAfter(worst));
        }
    }

    @EachAlgorithm
    default void stepBackReturnsNoPermits(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 10);
        time().advanceMicros(-HOUR);
        assertThat(key.rejection(limit, 1).remaining()).isZero();
        time().advanceMicros(-1);
        assertThat(key.rejection(limit, 1).remaining()).isZero();
    }

    @Test
    default void rejectionByABlockingLimitKeepsALogAfterAStepBack() {
        Limit limit = Limit.of(Algorithm.SLIDING_LOG, 10, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 5);
        time().advanceMicros(-HOUR);
        key.rejection(limitOf(Algorithm.SLIDING_LOG, 0, Duration.ofMinutes(1)), 1);
        time().advanceMicros(20_000_000);
        assertThat(QuotaMicros.retryAfter(key.rejection(limit, 6))).isEqualTo(40_000_000);
    }

    @EachCounter
    default void rejectionByABlockingLimitStartsNoWindowAfterAStepBack(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 5);
        time().advanceMicros(-HOUR);
        key.rejection(limitOf(algorithm, 0, Duration.ofMinutes(1)), 1);
        time().advanceMicros(20_000_000);
        assertThat(key.spend(limit, 10).quotas())
                .isEqualTo(key().spend(limit, 10).quotas());
    }

    @EachAlgorithm
    default void pollingAfterAStepBackDoesNotExtendRetryAfter(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 10);
        time().advanceMicros(20_000_003 - HOUR);
        long wait = QuotaMicros.retryAfter(key.rejection(limit, 10));
        for (long polled = 1; polled < 10; polled++) {
            time().advanceMicros(wait / 10);
            assertThat(QuotaMicros.retryAfter(key.rejection(limit, 10))).isEqualTo(wait - polled * (wait / 10));
        }
        time().advanceMicros(wait - 9 * (wait / 10));
        key.spend(limit, 10);
    }

    @EachAlgorithm
    default void permitsSpentAfterAStepBackCount(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 4);
        time().advanceMicros(-10_000_000);
        key.spend(limit, 6);
        key.rejection(limit, 1);
        time().advanceMicros(10_000_000);
        assertThat(key.remaining(limit)).isLessThanOrEqualTo(2);
    }

    @Test
    default void logThatWasSettledAfterEntriesHadEndedIsALogAfterAStepBack() {
        Limit limit = limitOf(Algorithm.SLIDING_LOG, 10_000, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 8_000);
        time().advanceMicros(55_000_000);
        Receipt receipt = key.spend(limit, 2_000).receipt();
        time().advanceMicros(10_000_000);
        backend().settle(receipt, charge -> true, 9_000);
        assertThat(key.remaining(limit)).isEqualTo(1_000);
        time().advanceMicros(-7_000_000);
        assertThat(key.remaining(limit)).isLessThanOrEqualTo(1_000);
        key.rejection(limit, 1_001);
        time().advanceMicros(57_000_000);
        key.spend(limit, 10_000);
    }

    @EachAlgorithm
    default void receiptFromBeforeAStepBackRefundsAtMostItsCharge(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey key = key();
        Receipt receipt = key.spend(limit, 4).receipt();
        key.spend(limit, 5);
        time().advanceMicros(-HOUR);
        backend().refund(receipt);
        assertThat(key.remaining(limit)).isBetween(1L, 5L);
    }
}
