// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A changed limit applies from the next call, and spent permits still count. */
interface ChangedLimitContract extends ContractFixture {

    private Limit minute(Algorithm algorithm, long permits) {
        return limitOf(algorithm, permits, Duration.ofMinutes(1));
    }

    @EachAlgorithm
    default void raisedLimitAllowsTheDifference(Algorithm algorithm) {
        TestKey key = key();
        key.spend(minute(algorithm, 10), 10);
        assertThat(key.remaining(minute(algorithm, 25))).isEqualTo(15);
        key.spend(minute(algorithm, 25), 15);
        key.rejection(minute(algorithm, 25), 1);
    }

    @EachAlgorithm
    default void loweredLimitCountsPermitsSpentBefore(Algorithm algorithm) {
        TestKey key = key();
        key.spend(minute(algorithm, 10), 3);
        assertThat(key.remaining(minute(algorithm, 4))).isEqualTo(1);
        key.spend(minute(algorithm, 4), 1);
        key.rejection(minute(algorithm, 4), 1);
    }

    @EachAlgorithm
    default void permitsBeyondALoweredLimitCountAsTheWholeLimit(Algorithm algorithm) {
        TestKey key = key();
        TestKey full = key();
        key.spend(minute(algorithm, 10), 9);
        full.spend(minute(algorithm, 4), 4);
        key.rejection(minute(algorithm, 4), 5);
        for (int step = 0; step < 30; step++) {
            assertThat(key.peek(minute(algorithm, 4), 2)).isEqualTo(full.peek(minute(algorithm, 4), 2));
            time().advanceMicros(4_321_001);
        }
    }

    @EachAlgorithm
    default void rejectionsUnderALoweredLimitKeepTheState(Algorithm algorithm) {
        TestKey key = key();
        key.spend(minute(algorithm, 10), 9);
        key.rejection(minute(algorithm, 4), 1);
        key.rejection(minute(algorithm, 0), 1);
        assertThat(key.remaining(minute(algorithm, 10))).isEqualTo(1);
    }

    @ParameterizedTest(name = "{0}: {1}, then {2}")
    @CsvSource({
        "FIXED_WINDOW, 1000000, 1", "FIXED_WINDOW, 100, 99", "FIXED_WINDOW, 1, 1000000",
        "SLIDING_WINDOW, 1000000, 1", "SLIDING_WINDOW, 100, 99", "SLIDING_WINDOW, 1, 1000000",
        "TOKEN_BUCKET, 1000000, 1", "TOKEN_BUCKET, 100, 99", "TOKEN_BUCKET, 1, 1000000",
        "LEAKY_BUCKET, 1000000, 1", "LEAKY_BUCKET, 100, 99", "LEAKY_BUCKET, 1, 1000000",
        "SLIDING_LOG, 10000, 1", "SLIDING_LOG, 100, 99", "SLIDING_LOG, 1, 10000"
    })
    default void changeNeverExceedsTheRecoveryOfTheNewLimit(Algorithm algorithm, long before, long after) {
        Limit now = minute(algorithm, after);
        TestKey key = key();
        TestKey full = key();
        key.spend(minute(algorithm, before), before);
        full.spend(now, after);
        for (long cost : new long[] {1, after}) {
            assertThat(QuotaMicros.retryAfter(key.peek(now, cost)))
                    .isLessThanOrEqualTo(QuotaMicros.retryAfter(full.peek(now, cost)));
        }
        assertThat(QuotaMicros.resetAfter(key.peek(now))).isLessThanOrEqualTo(QuotaMicros.resetAfter(full.peek(now)));
        time().advanceMicros(QuotaMicros.retryAfter(key.peek(now, after)));
        key.spend(now, after);
    }

    @EachBucket
    default void changedBurstKeepsTheMissingPermits(Algorithm algorithm) {
        Duration second = Duration.ofSeconds(1);
        TestKey key = key();
        key.spend(Limit.of(algorithm, 10, second, 20), 18);
        assertThat(key.remaining(Limit.of(algorithm, 10, second, 40))).isEqualTo(22);
        assertThat(key.remaining(Limit.of(algorithm, 10, second, 19))).isEqualTo(1);
        assertThat(key.remaining(Limit.of(algorithm, 10, second, 5))).isZero();
        assertThat(QuotaMicros.resetAfter(key.peek(Limit.of(algorithm, 10, second, 5))))
                .isEqualTo(500_000);
        key.spend(Limit.of(algorithm, 10, second, 40), 22);
        assertThat(QuotaMicros.resetAfter(key.rejection(Limit.of(algorithm, 10, second, 40), 1)))
                .isEqualTo(4_000_000);
    }

    @EachBucket
    default void changedRateAppliesFromTheNextCall(Algorithm algorithm) {
        TestKey key = key();
        key.spend(Limit.of(algorithm, 10, Duration.ofSeconds(1), 20), 20);
        assertThat(QuotaMicros.resetAfter(key.peek(Limit.of(algorithm, 40, Duration.ofSeconds(1), 20))))
                .isEqualTo(500_000);
    }

    @EachBucket
    default void aLoweredRateAppliesToPermitsThatWouldHaveReturned(Algorithm algorithm) {
        Limit before = minute(algorithm, 60);
        Limit lowered = minute(algorithm, 6);
        for (long cost : new long[] {1, 6, 60}) {
            TestKey key = key();
            TestKey twin = key();
            key.spend(before, cost);
            twin.spend(lowered, Math.min(cost, 6));
            key.rejection(lowered, 7);
            for (int step = 0; step < 13; step++) {
                assertThat(key.peek(lowered, 6)).as("%d permits", cost).isEqualTo(twin.peek(lowered, 6));
                time().advanceMicros(4_999_999);
            }
            key.spend(lowered, 6);
        }
    }

    @EachBucket
    default void aRefundUnderAnEarlierRateKeepsThePermitsThatCount(Algorithm algorithm) {
        Limit before = minute(algorithm, 60);
        Limit lowered = minute(algorithm, 6);
        TestKey key = key();
        Receipt receipt = key.spend(before, 3).receipt();
        key.spend(lowered, 3);
        time().advanceMicros(1_000_000);
        backend().refund(receipt);
        time().advanceMicros(9_000_000);
        assertThat(key.remaining(lowered)).as("6 - 3 - 3 + 2 + 1").isEqualTo(3);
        time().advanceMicros(20_000_000);
        assertThat(key.remaining(lowered)).isEqualTo(5);
    }

    @EachBucket
    default void aRefundOfAnotherLimitKeepsABucketThatCountsUnderALoweredRate(Algorithm algorithm) {
        Limit hour = limitOf(Algorithm.FIXED_WINDOW, 100, Duration.ofHours(1));
        TestKey key = key();
        Receipt receipt = key.spend(hour, 1).receipt();
        backend().acquire(List.of(key.charge(6, hour, minute(algorithm, 60))));
        time().advanceMicros(7_000_000);
        backend().refund(receipt);
        assertThat(backend()
                        .acquire(List.of(key.charge(1, hour, minute(algorithm, 6))))
                        .allowed())
                .isFalse();
    }

    @EachCounter
    default void coarserTimeUnitKeepsTheSpentPermits(Algorithm algorithm) {
        Limit fine = limitOf(algorithm, 1_000, Duration.ofDays(30));
        Limit coarse = limitOf(algorithm, 1_000_000_000, Duration.ofDays(30));
        assertThat(coarse.unitMicros()).isGreaterThan(fine.unitMicros());
        TestKey key = key();
        key.spend(fine, 400);
        assertThat(key.remaining(coarse)).isEqualTo(1_000_000_000 - 400);
        key.spend(coarse, 7);
        assertThat(key.remaining(fine)).isEqualTo(1_000 - 407);
        key.spend(fine, 593);
        key.rejection(fine, 1);
        assertThat(key.remaining(coarse)).isEqualTo(1_000_000_000 - 1_000);
    }

    @EachBucket
    default void coarserTimeUnitRoundsByAtMostOnePermit(Algorithm algorithm) {
        Limit fine = Limit.of(algorithm, 1_000, Duration.ofDays(30), 1_000);
        Limit coarse = Limit.of(algorithm, 1_000, Duration.ofDays(30), 3_000_000);
        TestKey key = key();
        key.spend(fine, 400);
        for (int change = 0; change < 20; change++) {
            time().advanceMicros(777_777_777);
            long missing = 1_000 - key.remaining(fine);
            assertThat(3_000_000 - key.remaining(coarse)).isBetween(missing, missing + 1);
            key.spend(change % 2 == 0 ? coarse : fine, 1);
        }
        // 6 permits return in 20 × 777 s at 1000 permits in 30 days.
        assertThat(1_000 - key.remaining(fine)).isBetween(400 + 20 - 6L, 400 + 20 - 5L);
    }

    @EachBucket
    default void coarserTimeUnitNeverReducesTheDebt(Algorithm algorithm) {
        Limit fine = Limit.of(algorithm, 1_000, Duration.ofDays(30), 2_000);
        Limit coarse = Limit.of(algorithm, 1_000, Duration.ofDays(30), 1_000_000);
        assertThat(coarse.unitMicros()).isEqualTo(1_000);
        TestKey key = key();
        key.spend(fine, 1_000);
        time().advanceMicros(1);
        long exact = QuotaMicros.resetAfter(key.spend(fine, 1_000).quotas().get(0));
        assertThat(exact).isEqualTo(2 * fine.windowMicros() - 1);
        assertThat(QuotaMicros.resetAfter(key.peek(coarse))).isBetween(exact, exact + 999);
    }

    @EachAlgorithm
    default void receiptFromBeforeARaiseRefundsAtMostItsCharge(Algorithm algorithm) {
        TestKey key = key();
        Receipt receipt = key.spend(minute(algorithm, 10), 5).receipt();
        key.spend(minute(algorithm, 100), 55);
        backend().refund(receipt);
        assertThat(key.remaining(minute(algorithm, 100))).isEqualTo(100 - 55);
    }

    @EachAlgorithm
    default void receiptFromBeforeALoweringRefundsAtMostItsCharge(Algorithm algorithm) {
        TestKey key = key();
        Receipt receipt = key.spend(minute(algorithm, 6_000), 1).receipt();
        key.spend(minute(algorithm, 6_000), 9);
        time().advanceMicros(6_000_000);
        Limit now = minute(algorithm, 10);
        long before = key.remaining(now);
        backend().refund(receipt);
        assertThat(key.remaining(now)).isBetween(before, before + 1);
    }

    @Test
    default void loweredLogAllowsWhenEnoughCallsHaveExpired() {
        TestKey key = key();
        for (int call = 0; call < 10; call++) {
            key.spend(minute(Algorithm.SLIDING_LOG, 10), 1);
            time().advanceMicros(1_000_000);
        }
        Limit now = minute(Algorithm.SLIDING_LOG, 4);
        Quota rejection = key.rejection(now, 3);
        assertThat(rejection.remaining()).isZero();
        assertThat(QuotaMicros.retryAfter(rejection)).as("9 of the 10 calls").isEqualTo(58_000_000);
        assertThat(QuotaMicros.nextPermitAfter(rejection))
                .as("7 of the 10 calls")
                .isEqualTo(56_000_000);
        assertThat(QuotaMicros.resetAfter(rejection)).isEqualTo(59_000_000);
        time().advanceMicros(57_999_999);
        assertThat(key.rejection(now, 3).remaining()).isEqualTo(2);
        time().advanceMicros(1);
        key.spend(now, 3);
        assertThat(key.remaining(minute(Algorithm.SLIDING_LOG, 10))).isEqualTo(6);
    }

    @Test
    default void refundWithoutReceiptIncludesCallsBeyondALoweredLog() {
        TestKey key = key();
        key.spend(minute(Algorithm.SLIDING_LOG, 10), 9);
        key.refund(minute(Algorithm.SLIDING_LOG, 4), 4);
        key.rejection(minute(Algorithm.SLIDING_LOG, 4), 1);
        key.refund(minute(Algorithm.SLIDING_LOG, 4), 2);
        assertThat(key.remaining(minute(Algorithm.SLIDING_LOG, 4))).isEqualTo(1);
    }

    @EachCounter
    default void refundWithoutReceiptIsPartOfTheLoweredLimit(Algorithm algorithm) {
        TestKey key = key();
        key.spend(minute(algorithm, 10), 9);
        key.refund(minute(algorithm, 4), 1);
        assertThat(key.remaining(minute(algorithm, 4))).isEqualTo(1);
    }
}
