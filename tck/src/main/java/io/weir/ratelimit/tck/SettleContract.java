// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A settlement replaces the reserved cost of a charge by the actual cost, once. */
interface SettleContract extends ContractFixture {
    Duration SETTLE_WINDOW = Duration.ofSeconds(10);

    private Limit limit(Algorithm algorithm) {
        return limitOf(algorithm, 10, SETTLE_WINDOW);
    }

    private void settle(Receipt receipt, long actualCost) {
        backend().settle(receipt, charge -> true, actualCost);
    }

    @ParameterizedTest(name = "{0}, {1} instead of 4")
    @CsvSource({
        "FIXED_WINDOW, 0", "FIXED_WINDOW, 1", "FIXED_WINDOW, 4", "FIXED_WINDOW, 7",
        "SLIDING_WINDOW, 0", "SLIDING_WINDOW, 1", "SLIDING_WINDOW, 4", "SLIDING_WINDOW, 7",
        "SLIDING_LOG, 0", "SLIDING_LOG, 1", "SLIDING_LOG, 4", "SLIDING_LOG, 7",
        "TOKEN_BUCKET, 0", "TOKEN_BUCKET, 1", "TOKEN_BUCKET, 4", "TOKEN_BUCKET, 7",
        "LEAKY_BUCKET, 0", "LEAKY_BUCKET, 1", "LEAKY_BUCKET, 4", "LEAKY_BUCKET, 7"
    })
    default void settledKeyEqualsAKeyThatSpentTheActualCost(Algorithm algorithm, long actual) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        TestKey twin = key();
        key.spend(limit, 1);
        twin.spend(limit, 1);
        time().advanceMicros(300_001);
        Receipt receipt = key.spend(limit, 4).receipt();
        if (actual > 0) {
            twin.spend(limit, actual);
        }
        time().advanceMicros(200_003);
        settle(receipt, actual);
        for (int step = 0; step < 25; step++) {
            for (long cost : new long[] {1, 5, 10}) {
                assertThat(key.peek(limit, cost)).as("step %d", step).isEqualTo(twin.peek(limit, cost));
            }
            time().advanceMicros(1_111_111);
        }
    }

    @EachAlgorithm
    default void keyInDebtIsRejectedUntilItHasRecovered(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        Receipt receipt = key.spend(limit, 10).receipt();
        settle(receipt, 15);
        assertThat(key.rejection(limit, 1).remaining()).isZero();
        long recovered = QuotaMicros.retryAfter(key.peek(limit, 1));
        assertThat(recovered)
                .isEqualTo(
                        switch (algorithm) {
                            case FIXED_WINDOW, SLIDING_LOG -> 10_000_000;
                            case SLIDING_WINDOW -> 14_000_000;
                            case TOKEN_BUCKET, LEAKY_BUCKET -> 6_000_000;
                        });
        time().advanceMicros(recovered - 1);
        key.rejection(limit, 1);
        time().advanceMicros(1);
        key.spend(limit, 1);
    }

    @EachAlgorithm
    default void refundsInDebtReduceTheDebt(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        Receipt first = key.spend(limit, 4).receipt();
        Receipt second = key.spend(limit, 6).receipt();
        settle(first, 9);
        assertThat(key.remaining(limit)).isZero();
        settle(second, 2);
        assertThat(key.remaining(limit)).as("10 - 9 - 2").isZero();
        key.rejection(limit, 1);
        key.refund(limit, 2);
        assertThat(key.remaining(limit)).isEqualTo(1);
    }

    @EachAlgorithm
    default void eachChargeIsSettledOnce(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        Receipt receipt = key.spend(limit, 5).receipt();
        settle(receipt, 7);
        settle(receipt, 7);
        settle(receipt, 1);
        settle(receipt, 100);
        assertThat(key.remaining(limit)).isEqualTo(3);
    }

    @EachAlgorithm
    default void settlementNamesTheSettledCharges(Algorithm algorithm) {
        TestKey key = key();
        Receipt receipt = key.spend(limit(algorithm), 5).receipt();
        Charge charge = key.charge(5, limit(algorithm));
        assertThat(backend().settle(receipt, each -> false, 7)).isEmpty();
        assertThat(backend().settle(receipt, each -> true, 7)).containsExactly(charge);
        assertThat(backend().settle(receipt, each -> true, 7)).isEmpty();
        assertThat(backend().settle(Receipt.EMPTY, each -> true, 7)).isEmpty();
    }

    @EachAlgorithm
    default void concurrentSettlementsSettleOnce(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        Receipt receipt = key.spend(limit, 2).receipt();
        List<CompletableFuture<List<Charge>>> all = new ArrayList<>();
        for (int call = 0; call < 20; call++) {
            all.add(CompletableFuture.supplyAsync(() -> backend().settle(receipt, charge -> true, 5)));
        }
        assertThat(all.stream().filter(each -> !each.join().isEmpty())).hasSize(1);
        assertThat(key.remaining(limit)).isEqualTo(5);
    }

    @EachAlgorithm
    default void settlesWithoutBlocking(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        Receipt receipt = key.spend(limit, 2).receipt();
        Receipt other = key.spend(limit, 6).receipt();
        backend().settleAsync(receipt, charge -> true, 4).toCompletableFuture().join();
        assertThat(key.remaining(limit)).isZero();
        backend().settleAsync(other, charge -> true, 3).toCompletableFuture().join();
        assertThat(key.remaining(limit)).isEqualTo(3);
    }

    @EachAlgorithm
    default void refundedChargeIsNotSettled(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        Receipt receipt = key.spend(limit, 5).receipt();
        key.spend(limit, 2);
        backend().refund(receipt);
        settle(receipt, 9);
        assertThat(key.remaining(limit)).isEqualTo(8);
    }

    @ParameterizedTest(name = "{0}, {1} instead of 4")
    @CsvSource({
        "FIXED_WINDOW, 0", "FIXED_WINDOW, 2", "FIXED_WINDOW, 8", "FIXED_WINDOW, 14",
        "SLIDING_WINDOW, 0", "SLIDING_WINDOW, 2", "SLIDING_WINDOW, 8", "SLIDING_WINDOW, 14",
        "SLIDING_LOG, 0", "SLIDING_LOG, 2", "SLIDING_LOG, 8", "SLIDING_LOG, 14",
        "TOKEN_BUCKET, 0", "TOKEN_BUCKET, 2", "TOKEN_BUCKET, 8", "TOKEN_BUCKET, 14",
        "LEAKY_BUCKET, 0", "LEAKY_BUCKET, 2", "LEAKY_BUCKET, 8", "LEAKY_BUCKET, 14"
    })
    default void refundOfASettledReceiptRefundsTheActualCost(Algorithm algorithm, long actual) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        TestKey twin = key();
        key.spend(limit, 3);
        twin.spend(limit, 3);
        Receipt receipt = key.spend(limit, 4).receipt();
        settle(receipt, actual);
        backend().refund(receipt);
        assertThat(key.peek(limit, 10)).isEqualTo(twin.peek(limit, 10));
        backend().refund(receipt);
        settle(receipt, 9);
        assertThat(key.peek(limit, 10)).isEqualTo(twin.peek(limit, 10));
    }

    @ParameterizedTest
    @CsvSource({"FIXED_WINDOW, 10000000", "SLIDING_WINDOW, 20000000", "SLIDING_LOG, 10000000"})
    default void settlementAfterTheWindowHasNoEffect(Algorithm algorithm, long passed) {
        Limit limit = limit(algorithm);
        for (boolean spends : new boolean[] {false, true}) {
            TestKey key = key();
            TestKey twin = key();
            Receipt less = key.spend(limit, 4).receipt();
            Receipt more = key.spend(limit, 4).receipt();
            time().advanceMicros(passed);
            if (spends) {
                key.spend(limit, 5);
                twin.spend(limit, 5);
            }
            settle(less, 1);
            settle(more, 100);
            assertThat(key.peek(limit, 10)).isEqualTo(twin.peek(limit, 10));
        }
    }

    @Test
    default void settlementInTheNextWindowCountsInTheWindowOfTheCharge() {
        Limit limit = limit(Algorithm.SLIDING_WINDOW);
        TestKey key = key();
        Receipt receipt = key.spend(limit, 2).receipt();
        time().advanceMicros(15_000_000);
        key.spend(limit, 1);
        settle(receipt, 14);
        assertThat(key.remaining(limit)).as("10 - 1 - 14 x 1/2").isEqualTo(2);
    }

    @EachBucket
    default void bucketIsChargedWhatHasNotReturnedSinceTheCharge(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        Receipt receipt = key.spend(limit, 2).receipt();
        time().advanceMicros(6_000_000);
        assertThat(key.remaining(limit)).isEqualTo(10);
        settle(receipt, 9);
        assertThat(key.remaining(limit)).as("10 - (9 - 6)").isEqualTo(7);
        Receipt late = key.spend(limit, 2).receipt();
        time().advanceMicros(20_000_000);
        settle(late, 7);
        assertThat(key.peek(limit, 10)).isEqualTo(key().peek(limit, 10));
    }

    @EachAlgorithm
    default void debtIsBounded(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        TestKey twin = key();
        Receipt receipt = key.spend(limit, 5).receipt();
        Receipt other = key.spend(limit, 5).receipt();
        Receipt full = twin.spend(limit, 10).receipt();
        settle(receipt, Long.MAX_VALUE);
        settle(other, Long.MAX_VALUE);
        settle(full, 20);
        assertThat(key.peek(limit, 1)).isEqualTo(twin.peek(limit, 1));
        assertThat(QuotaMicros.retryAfter(key.peek(limit, 1)))
                .isEqualTo(
                        switch (algorithm) {
                            case FIXED_WINDOW, SLIDING_LOG -> 10_000_000;
                            case SLIDING_WINDOW -> 15_500_000;
                            case TOKEN_BUCKET, LEAKY_BUCKET -> 11_000_000;
                        });
    }

    @EachBoundaryLimit
    default void debtIsExactOverTheRangeOfLimits(Algorithm algorithm, long permits, Duration window) {
        Limit limit = limitOf(algorithm, permits, window);
        TestKey key = key();
        TestKey twin = key();
        Receipt receipt = key.spend(limit, permits).receipt();
        Receipt same = twin.spend(limit, permits).receipt();
        settle(receipt, Long.MAX_VALUE);
        settle(same, Long.MAX_VALUE);
        assertThat(key.rejection(limit, 1).remaining()).isZero();
        long recovered = QuotaMicros.retryAfter(key.peek(limit, 1));
        assertThat(recovered).isLessThanOrEqualTo(2 * limit.windowMicros());
        backend().refund(receipt);
        assertThat(key.peek(limit, permits)).isEqualTo(key().peek(limit, permits));
        assertThat(QuotaMicros.retryAfter(twin.peek(limit, 1))).isEqualTo(recovered);
        time().advanceMicros(recovered);
        twin.spend(limit, 1);
    }

    @EachAlgorithm
    default void debtCountsUnderARaisedLimit(Algorithm algorithm) {
        TestKey key = key();
        settle(key.spend(limit(algorithm), 10).receipt(), 15);
        Limit raised = limitOf(algorithm, 100, SETTLE_WINDOW);
        assertThat(key.remaining(raised)).isEqualTo(85);
        key.spend(raised, 85);
        key.rejection(raised, 1);
    }

    @ParameterizedTest
    @CsvSource({"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    default void debtUnderALoweredLimitIsBoundedByThatLimit(Algorithm algorithm) {
        TestKey key = key();
        TestKey twin = key();
        settle(key.spend(limit(algorithm), 10).receipt(), 15);
        Limit lowered = limitOf(algorithm, 4, SETTLE_WINDOW);
        settle(twin.spend(lowered, 4).receipt(), 8);
        key.rejection(lowered, 1);
        for (int step = 0; step < 30; step++) {
            assertThat(key.peek(lowered, 2)).isEqualTo(twin.peek(lowered, 2));
            time().advanceMicros(787_787);
        }
    }

    @EachAlgorithm
    default void resetRemovesTheDebt(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        settle(key.spend(limit, 10).receipt(), 15);
        key.reset(limit);
        assertThat(key.peek(limit, 10)).isEqualTo(key().peek(limit, 10));
        key.spend(limit, 10);
    }

    @Test
    default void settlesAllLimitsOfSeveralPolicies() {
        PolicyLimits tokens = new PolicyLimits(
                "tokens",
                List.of(
                        limitOf(Algorithm.SLIDING_WINDOW, 100, Duration.ofMinutes(1)),
                        limitOf(Algorithm.SLIDING_WINDOW, 1_000, Duration.ofDays(1))));
        PolicyLimits bytes =
                new PolicyLimits("bytes", List.of(limitOf(Algorithm.TOKEN_BUCKET, 500, Duration.ofMinutes(1))));
        TestKey key = key();
        TestKey other = key();
        Charge ofTokens = new Charge(tokens, key.storedKey(), 20);
        Charge ofBytes = new Charge(bytes, other.storedKey(), 50);
        Decision decision = backend().acquire(List.of(ofTokens, ofBytes));
        Receipt receipt = ((Decision.Allowed) decision).receipt();
        assertThat(backend().settle(receipt, ofTokens::equals, 170)).containsExactly(ofTokens);
        assertThat(remaining(ofTokens)).containsExactly(0L, 830L);
        assertThat(remaining(ofBytes)).containsExactly(450L);
        assertThat(backend().settle(receipt, charge -> true, 30)).containsExactly(ofBytes);
        assertThat(remaining(ofTokens)).containsExactly(0L, 830L);
        assertThat(remaining(ofBytes)).containsExactly(470L);
        backend().refund(receipt);
        assertThat(remaining(ofTokens)).containsExactly(100L, 1_000L);
        assertThat(remaining(ofBytes)).containsExactly(500L);
    }

    private List<Long> remaining(Charge charge) {
        return backend().peek(charge).stream().map(quota -> quota.remaining()).toList();
    }

    @Test
    default void settlesChargesOfPoliciesInShadowMode() {
        Limit limit = limit(Algorithm.SLIDING_WINDOW);
        TestKey key = key();
        Charge shadow = key.charge(3, limit).asShadow();
        Receipt receipt = ((Decision.Allowed) backend().acquire(List.of(shadow))).receipt();
        settle(receipt, 8);
        assertThat(key.remaining(limit)).isEqualTo(2);
    }
}
