// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A refund returns exactly the charged permits that still count, once. */
interface RefundContract extends ContractFixture {
    Duration TEN_SECONDS = Duration.ofSeconds(10);

    @EachAlgorithm
    default void receiptRefundsExactlyItsCharge(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, TEN_SECONDS);
        TestKey key = key();
        TestKey twin = key();
        key.spend(limit, 4);
        twin.spend(limit, 4);
        time().advanceMicros(500_003);
        Decision.Allowed charged = key.spend(limit, 3);
        time().advanceMicros(700_001);
        key.spend(limit, 2);
        twin.spend(limit, 2);
        backend().refund(charged.receipt());
        for (int step = 0; step < 20; step++) {
            assertThat(key.peek(limit, 10)).isEqualTo(twin.peek(limit, 10));
            time().advanceMicros(1_111_111);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "FIXED_WINDOW, true", "FIXED_WINDOW, false",
        "SLIDING_WINDOW, true", "SLIDING_WINDOW, false",
        "TOKEN_BUCKET, true", "TOKEN_BUCKET, false",
        "LEAKY_BUCKET, true", "LEAKY_BUCKET, false",
        "SLIDING_LOG, true", "SLIDING_LOG, false"
    })
    default void receiptsCanBeRefundedInAnyOrder(Algorithm algorithm, boolean lastFirst) {
        Limit limit = limitOf(algorithm, 10, TEN_SECONDS);
        TestKey key = key();
        TestKey twin = key();
        key.spend(limit, 3);
        twin.spend(limit, 3);
        Receipt first = key.spend(limit, 5).receipt();
        Receipt second = key.spend(limit, 2).receipt();
        time().advanceMicros(1_000_003);
        backend().refund(lastFirst ? second : first);
        assertThat(key.remaining(limit)).isEqualTo(twin.remaining(limit) - (lastFirst ? 5 : 2));
        backend().refund(lastFirst ? first : second);
        assertThat(key.peek(limit, 10)).isEqualTo(twin.peek(limit, 10));
    }

    @EachAlgorithm
    default void receiptRefundsOnce(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, TEN_SECONDS);
        TestKey key = key();
        Receipt receipt = key.spend(limit, 3).receipt();
        key.spend(limit, 7);
        backend().refund(receipt);
        backend().refund(receipt);
        assertThat(key.remaining(limit)).isEqualTo(3);
        key.spend(limit, 3);
        backend().refund(receipt);
        key.rejection(limit, 1);
    }

    @EachAlgorithm
    default void receiptOfAPassedWindowHasNoEffect(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, TEN_SECONDS);
        TestKey key = key();
        Decision.Allowed charged = key.spend(limit, 10);
        time().advanceMicros(QuotaMicros.resetAfter(charged.quotas().get(0)));
        key.spend(limit, 10);
        backend().refund(charged.receipt());
        assertThat(key.rejection(limit, 1).remaining()).isZero();
    }

    @Test
    default void receiptOfThePreviousWindowRefundsThePermitsThatCount() {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 10, TEN_SECONDS);
        TestKey key = key();
        key.spend(limit, 2);
        Receipt receipt = key.spend(limit, 8).receipt();
        time().advanceMicros(15_000_000);
        key.spend(limit, 5);
        backend().refund(receipt);
        assertThat(key.remaining(limit)).as("10 - 5 - 2 x 1/2").isEqualTo(4);
    }

    @EachBucket
    default void bucketRefundsOnlyPermitsThatHaveNotReturned(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, TEN_SECONDS);
        TestKey key = key();
        Receipt receipt = key.spend(limit, 5).receipt();
        time().advanceMicros(3_000_000);
        key.spend(limit, 5);
        assertThat(key.remaining(limit)).isEqualTo(3);
        backend().refund(receipt);
        assertThat(key.remaining(limit)).as("3 of the 5 had returned").isEqualTo(5);
    }

    @Test
    default void receiptOfAPassedFixedWindowDoesNotAffectTheNext() {
        Limit limit = Limit.of(Algorithm.FIXED_WINDOW, 10, TEN_SECONDS);
        TestKey key = key();
        Receipt first = key.spend(limit, 4).receipt();
        Receipt second = key.spend(limit, 4).receipt();
        time().advanceMicros(10_000_000);
        backend().refund(first);
        key.spend(limit, 6);
        backend().refund(second);
        assertThat(key.remaining(limit)).isEqualTo(4);
    }

    @EachAlgorithm
    default void fullyRefundedKeyEqualsAnUntouchedKey(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, TEN_SECONDS);
        TestKey key = key();
        Receipt receipt = key.spend(limit, 10).receipt();
        time().advanceMicros(2_000_017);
        backend().refund(receipt);
        assertThat(key.peek(limit, 10)).isEqualTo(key().peek(limit, 10));
        key.spend(limit, 10);
        key.rejection(limit, 1);
    }

    @Test
    default void receiptOfAnOlderWindowDoesNotAffectThePreviousWindow() {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 10, TEN_SECONDS);
        TestKey key = key();
        Receipt receipt = key.spend(limit, 4).receipt();
        time().advanceMicros(10_000_000);
        key.spend(limit, 6);
        time().advanceMicros(15_000_000);
        key.spend(limit, 1);
        backend().refund(receipt);
        assertThat(key.remaining(limit)).as("10 - 1 - 6 x 1/2").isEqualTo(6);
    }

    @EachAlgorithm
    default void receiptNeverExceedsTheCapacity(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, TEN_SECONDS);
        TestKey key = key();
        Receipt receipt = key.spend(limit, 5).receipt();
        key.refund(limit, 5);
        key.spend(limit, 3);
        backend().refund(receipt);
        assertThat(key.remaining(limit)).isLessThanOrEqualTo(10);
        key.rejection(limit, 11);
        key.spend(limit, key.remaining(limit));
        key.rejection(limit, 1);
    }

    @EachAlgorithm
    default void receiptDoesNotAffectOtherKeys(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, TEN_SECONDS);
        TestKey other = key();
        Receipt receipt = key().spend(limit, 5).receipt();
        other.spend(limit, 10);
        backend().refund(receipt);
        other.rejection(limit, 1);
    }

    @EachAlgorithm
    default void emptyReceiptHasNoEffect(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, TEN_SECONDS);
        TestKey key = key();
        key.spend(limit, 10);
        backend().refund(Receipt.EMPTY);
        key.rejection(limit, 1);
    }

    @EachAlgorithm
    default void refundsACostWithoutAReceipt(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, TEN_SECONDS);
        TestKey key = key();
        key.spend(limit, 10);
        key.refund(limit, 4);
        assertThat(key.remaining(limit)).isEqualTo(4);
        key.spend(limit, 4);
        key.rejection(limit, 1);
    }

    @EachAlgorithm
    default void refundWithoutReceiptNeverExceedsTheCapacity(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, TEN_SECONDS);
        for (long cost : new long[] {4, 10, 11, Long.MAX_VALUE}) {
            TestKey key = key();
            key.refund(limit, cost);
            key.spend(limit, 3);
            key.refund(limit, cost);
            assertThat(key.remaining(limit)).isEqualTo(10);
            key.spend(limit, 10);
            key.rejection(limit, 1);
        }
    }

    @Test
    default void refundWithoutReceiptStartsWithTheCurrentWindow() {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 10, TEN_SECONDS);
        TestKey key = key();
        key.spend(limit, 8);
        time().advanceMicros(15_000_000);
        key.spend(limit, 3);
        key.refund(limit, 5);
        assertThat(key.remaining(limit)).as("10 - (8 - 2) x 1/2").isEqualTo(7);
    }

    @Test
    default void refundWithoutReceiptStartsWithTheLatestCall() {
        Limit limit = Limit.of(Algorithm.SLIDING_LOG, 10, TEN_SECONDS);
        TestKey key = key();
        key.spend(limit, 3);
        time().advanceMicros(1_000_000);
        key.spend(limit, 3);
        time().advanceMicros(1_000_000);
        key.spend(limit, 3);
        key.refund(limit, 5);
        Quota quota = key.peek(limit, 10);
        assertThat(quota.remaining()).isEqualTo(6);
        assertThat(QuotaMicros.nextPermitAfter(quota)).isEqualTo(8_000_000);
        assertThat(QuotaMicros.retryAfter(quota)).isEqualTo(9_000_000);
        assertThat(QuotaMicros.resetAfter(quota)).isEqualTo(9_000_000);
    }

    @Test
    default void receiptOfALogRefundsItsCallOnly() {
        Limit limit = Limit.of(Algorithm.SLIDING_LOG, 10, TEN_SECONDS);
        TestKey key = key();
        List<Receipt> receipts = new ArrayList<>();
        for (int call = 0; call < 3; call++) {
            receipts.add(key.spend(limit, 3).receipt());
            time().advanceMicros(1);
        }
        backend().refund(receipts.get(1));
        Quota quota = key.peek(limit, 8);
        assertThat(quota.remaining()).isEqualTo(4);
        assertThat(QuotaMicros.retryAfter(quota)).as("the call before").isEqualTo(9_999_999);
        time().advanceMicros(9_999_997);
        assertThat(key.remaining(limit)).isEqualTo(7);
        backend().refund(receipts.get(0));
        assertThat(key.remaining(limit)).isEqualTo(7);
        backend().refund(receipts.get(2));
        assertThat(key.peek(limit, 10)).isEqualTo(key().peek(limit, 10));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 11})
    default void receiptOfALogKeepsAllOtherCalls(int instants) {
        Limit limit = Limit.of(Algorithm.SLIDING_LOG, 100, TEN_SECONDS);
        for (int given = 0; given < 2 * instants; given++) {
            TestKey key = key();
            TestKey twin = key();
            Receipt receipt = Receipt.EMPTY;
            for (int call = 0; call < 2 * instants; call++) {
                long cost = 1L + call % 3;
                Receipt made = key.spend(limit, cost).receipt();
                if (call == given) {
                    receipt = made;
                } else {
                    twin.spend(limit, cost);
                }
                time().advanceMicros(call % 2 * 1_000L);
            }
            backend().refund(receipt);
            for (int step = 0; step <= instants; step++) {
                assertThat(key.peek(limit, 100))
                        .as("call %d, step %d", given, step)
                        .isEqualTo(twin.peek(limit, 100));
                time().advanceMicros(step == 0 ? 10_000_000 - 1_000L * instants : 1_000);
            }
        }
    }

    @Test
    default void refundWithoutReceiptIncludesBothWindows() {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 3, TEN_SECONDS);
        TestKey key = key();
        key.spend(limit, 3);
        time().advanceMicros(19_999_999);
        key.spend(limit, 2);
        key.refund(limit, 11);
        assertThat(key.peek(limit, 3)).isEqualTo(key().peek(limit, 3));
    }
}
