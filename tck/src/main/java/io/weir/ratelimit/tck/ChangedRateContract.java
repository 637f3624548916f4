// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A settlement of a bucket whose rate has changed since the charge counts by the rate of the latest call. In the comments, a state is the
 * number of missing permits.
 */
interface ChangedRateContract extends ContractFixture {

    /** Returns a bucket from which one permit returns in a second. */
    private Limit slow(Algorithm algorithm) {
        return limitOf(algorithm, 10, Duration.ofSeconds(10));
    }

    /** Returns a bucket from which ten permits return in a second. */
    private Limit fast(Algorithm algorithm) {
        return limitOf(algorithm, 100, Duration.ofSeconds(10));
    }

    private void settle(Receipt receipt, long actualCost) {
        backend().settle(receipt, charge -> true, actualCost);
    }

    @ParameterizedTest(name = "{0}, {1} instead of 4")
    @CsvSource({
        "TOKEN_BUCKET, 7, 89", "LEAKY_BUCKET, 7, 89", // 14 - 5 + (7 - 5)
        "TOKEN_BUCKET, 60, 36", "LEAKY_BUCKET, 60, 36", // 14 - 5 + (60 - 5)
        "TOKEN_BUCKET, 3, 91", "LEAKY_BUCKET, 3, 91", // 14 - 5: all 4 have returned
        "TOKEN_BUCKET, 0, 91", "LEAKY_BUCKET, 0, 91"
    })
    default void aChargeBeforeARaiseIsSettledByTheRaisedRate(Algorithm algorithm, long actual, long remaining) {
        TestKey key = key();
        Receipt receipt = key.spend(slow(algorithm), 4).receipt();
        key.spend(fast(algorithm), 10);
        time().advanceMicros(500_000);
        settle(receipt, actual);
        assertThat(key.remaining(fast(algorithm))).isEqualTo(remaining);
        time().advanceMicros(500_000);
        assertThat(key.remaining(fast(algorithm))).isEqualTo(remaining + 5);
    }

    @ParameterizedTest(name = "{0}, {1} instead of 4")
    @CsvSource({
        "TOKEN_BUCKET, 7, 1", "LEAKY_BUCKET, 7, 1", // 7 - 1 + 3
        "TOKEN_BUCKET, 3, 5", "LEAKY_BUCKET, 3, 5", // 7 - 1 - 1
        "TOKEN_BUCKET, 0, 7", "LEAKY_BUCKET, 0, 7" // 7 - 1 - 3
    })
    default void aChargeBeforeALoweringIsSettledByTheLoweredRate(Algorithm algorithm, long actual, long remaining) {
        TestKey key = key();
        Receipt receipt = key.spend(fast(algorithm), 4).receipt();
        key.spend(slow(algorithm), 3);
        time().advanceMicros(1_000_000);
        settle(receipt, actual);
        assertThat(key.remaining(slow(algorithm))).isEqualTo(remaining);
        time().advanceMicros(1_000_000);
        assertThat(key.remaining(slow(algorithm))).isEqualTo(remaining + 1);
    }

    @EachBucket
    default void aDebtAfterARaiseCountsInPermits(Algorithm algorithm) {
        TestKey key = key();
        Receipt receipt = key.spend(slow(algorithm), 4).receipt();
        key.spend(fast(algorithm), 50);
        time().advanceMicros(1_000_000);
        settle(receipt, 160);
        assertThat(QuotaMicros.retryAfter(key.rejection(fast(algorithm), 1)))
                .as("54 - 10 + (160 - 10) - 99, by 10 in a second")
                .isEqualTo(9_500_000);
        time().advanceMicros(9_500_000);
        key.spend(fast(algorithm), 1);
    }

    @EachBucket
    default void aDebtAfterALoweringCountsInPermits(Algorithm algorithm) {
        TestKey key = key();
        Receipt receipt = key.spend(fast(algorithm), 4).receipt();
        key.spend(slow(algorithm), 3);
        time().advanceMicros(1_000_000);
        settle(receipt, 10);
        assertThat(QuotaMicros.retryAfter(key.rejection(slow(algorithm), 1)))
                .as("7 - 1 + 6 - 9, by 1 in a second")
                .isEqualTo(3_000_000);
        time().advanceMicros(3_000_000);
        key.spend(slow(algorithm), 1);
    }

    @EachBucket
    default void aDebtAfterAChangeIsThatOfTheChangedLimitAtMost(Algorithm algorithm) {
        for (boolean raised : new boolean[] {false, true}) {
            Limit before = raised ? slow(algorithm) : fast(algorithm);
            Limit after = raised ? fast(algorithm) : slow(algorithm);
            TestKey key = key();
            TestKey twin = key();
            Receipt receipt = key.spend(before, 4).receipt();
            key.spend(after, 3);
            settle(receipt, Long.MAX_VALUE);
            settle(twin.spend(after, 7).receipt(), Long.MAX_VALUE);
            assertThat(key.peek(after, 1)).isEqualTo(twin.peek(after, 1));
        }
    }

    @EachBucket
    default void permitsThatReturnedBeforeALoweringAreNotRefunded(Algorithm algorithm) {
        TestKey key = key();
        Receipt receipt = key.spend(fast(algorithm), 4).receipt();
        time().advanceMicros(1_000_000);
        key.spend(fast(algorithm), 6);
        key.spend(slow(algorithm), 2);
        time().advanceMicros(1_000_000);
        backend().refund(receipt);
        assertThat(key.remaining(slow(algorithm))).as("10 - 6 - 2 + 1").isEqualTo(3);
    }

    @EachBucket
    default void permitsThatReturnedBeforeALoweringFromAVastRateAreNotRefunded(Algorithm algorithm) {
        Limit vast = limitOf(algorithm, 100_000_000_000_000L, Duration.ofSeconds(10));
        TestKey key = key();
        Receipt receipt = key.spend(vast, 5).receipt();
        time().advanceMicros(1_000_000);
        key.spend(vast, 1);
        key.spend(slow(algorithm), 6);
        time().advanceMicros(1_000_000);
        backend().refund(receipt);
        assertThat(key.remaining(slow(algorithm))).as("10 - 1 - 6 + 1").isEqualTo(4);
    }

    @EachBucket
    default void permitsThatHadNotReturnedBeforeARaiseAreCharged(Algorithm algorithm) {
        TestKey key = key();
        Receipt receipt = key.spend(slow(algorithm), 4).receipt();
        time().advanceMicros(2_000_000);
        key.spend(slow(algorithm), 1);
        key.spend(fast(algorithm), 10);
        time().advanceMicros(100_000);
        settle(receipt, 8);
        assertThat(key.remaining(fast(algorithm)))
                .as("100 - (3 + 10 - 1) - (8 - 2 - 1 - 1)")
                .isEqualTo(84);
    }

    @EachBucket
    default void aBucketWithAnotherTimeUnitIsSettled(Algorithm algorithm) {
        Limit fine = limitOf(algorithm, 1_000, Duration.ofDays(30));
        Limit coarse = limitOf(algorithm, 1_000_000_000, Duration.ofDays(30));
        assertThat(coarse.unitMicros()).isGreaterThan(fine.unitMicros());
        TestKey key = key();
        Receipt first = key.spend(fine, 400).receipt();
        Receipt second = key.spend(coarse, 7).receipt();
        settle(first, 900);
        assertThat(key.remaining(coarse)).isEqualTo(1_000_000_000 - 907);
        key.spend(fine, 1);
        settle(second, 5);
        assertThat(key.remaining(fine)).isEqualTo(1_000 - 906);
    }

    @EachBucket
    default void aBucketThatIsFullUnderTheChangedLimitIsSettledByTheLimitOfTheCharge(Algorithm algorithm) {
        TestKey key = key();
        Receipt receipt = key.spend(slow(algorithm), 4).receipt();
        key.spend(fast(algorithm), 10);
        time().advanceMicros(2_000_000);
        settle(receipt, 7);
        assertThat(key.remaining(fast(algorithm)))
                .as("100 - ((7 - 2) - (4 - 2))")
                .isEqualTo(97);
    }
}
