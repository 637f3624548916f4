// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TokenBucketStateTest {
    private static final long PERMIT = 1_000_000;
    private final Limit limit = Limit.of(Algorithm.TOKEN_BUCKET, 3, Duration.ofSeconds(1), 5);
    private final Limit coarse = Limit.of(Algorithm.TOKEN_BUCKET, 3, Duration.ofSeconds(1), 9_007_199_255L);

    @Test
    void inEachTimeUnitAsManyPartsReturnAsTheLimitHasPermits() {
        assertThat(new TokenBucketState(100, 2 * PERMIT, 0).asOf(limit, 107))
                .isEqualTo(new TokenBucketState(107, 2 * PERMIT - 21, 0));
    }

    @Test
    void aBucketHoldsAtMostItsCapacity() {
        assertThat(new TokenBucketState(100, PERMIT, 0).asOf(limit, 100 + 333_333))
                .isEqualTo(new TokenBucketState(100 + 333_333, 1, 0));
        assertThat(new TokenBucketState(100, PERMIT, 0).asOf(limit, 100 + 333_334))
                .isEqualTo(LimitState.untouched(limit, 100 + 333_334));
    }

    @Test
    void aStateFromTheFutureStartsNow() {
        assertThat(new TokenBucketState(100, PERMIT, 0).asOf(limit, 40)).isEqualTo(new TokenBucketState(40, PERMIT, 0));
    }

    @Test
    void aDebtAboveTheMaximumCountsAsTheMaximum() {
        assertThat(new TokenBucketState(100, 9 * PERMIT, 0).asOf(limit, 100))
                .isEqualTo(new TokenBucketState(100, 5 * PERMIT, 0));
    }

    @Test
    void aCoarserUnitRoundsTheDebtUpAndAFinerUnitIsExact() {
        assertThat(coarse.unitExponent()).isEqualTo(1);
        assertThat(new TokenBucketState(100, 11, 0).asOf(coarse, 100)).isEqualTo(new TokenBucketState(100, 2, 1));
        assertThat(new TokenBucketState(100, 2, 1).asOf(limit, 100)).isEqualTo(new TokenBucketState(100, 20, 0));
    }

    @Test
    void timeBetweenUnitsIsKept() {
        TokenBucketState state = new TokenBucketState(100, 50, 1);
        assertThat(state.asOf(coarse, 109)).isSameAs(state);
        assertThat(state.asOf(coarse, 119)).isEqualTo(new TokenBucketState(110, 47, 1));
        assertThat(state.asOf(coarse, 119).asOf(coarse, 120)).isEqualTo(new TokenBucketState(120, 44, 1));
    }

    @Test
    void aHugeDebtDoesNotOverflowInAFinerUnit() {
        TokenBucketState state = new TokenBucketState(100, 1L << 53, 6);
        assertThat(state.asOf(limit, 100)).isEqualTo(new TokenBucketState(100, 5 * PERMIT, 0));
    }

    @Test
    void refundOfAChargeInAnotherUnitChangesNothing() {
        TokenBucketState state = new TokenBucketState(100, 50, 1);
        assertThat(state.refund(coarse, new TokenBucketState(100, 50, 0), 1, 100))
                .isSameAs(state);
        assertThat(state.refund(coarse, new SlidingWindowState(100, 50, 0), 1, 100))
                .isSameAs(state);
    }

    @Test
    void aLeakyBucketIsATokenBucketOfOnePermit() {
        Limit leaky = Limit.of(Algorithm.LEAKY_BUCKET, 3, Duration.ofSeconds(1));
        LimitState state = LimitState.untouched(leaky, 100).spend(leaky, 1, 100);
        assertThat(state).isEqualTo(new TokenBucketState(100, PERMIT, 0));
        assertThat(state.hasRoom(leaky, 1, 100)).isFalse();
        assertThat(state.retryAfterMicros(leaky, 1, 100)).isEqualTo(333_334);
        assertThat(state.retryAfterMicros(leaky, 2, 100)).isEqualTo(Micros.NEVER);
    }

    @Test
    void theGreatestDebtIsTheCapacityAndThePermitsOfTheLongestDelay() {
        Limit limit = Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofSeconds(1), 3);
        assertThat(TokenBucketState.maxDebt(limit)).isEqualTo(3_000_000);
        Limit delaying = limit.withMaxWait(Duration.ofSeconds(2));
        assertThat(TokenBucketState.maxDebt(delaying)).isEqualTo(23_000_000);
        assertThat(LimitState.maxDelayMicros(delaying, 2_000_001)).isEqualTo(2_000_000);
        assertThat(LimitState.maxDelayMicros(delaying, 7)).isEqualTo(7);
        Limit blocking = Limit.of(Algorithm.TOKEN_BUCKET, 0, Duration.ofSeconds(1), 3);
        assertThat(TokenBucketState.maxDebt(blocking.withMaxWait(Duration.ofSeconds(2))))
                .isZero();
    }

    @Test
    void theGreatestDebtOfALongWaitIsInTheCoarseUnitOfItsLimit() {
        Limit coarse = Limit.of(Algorithm.TOKEN_BUCKET, 1_000_000_000, Duration.ofDays(30), 1)
                .withMaxWait(Duration.ofHours(1));
        assertThat(coarse.unitMicros()).isEqualTo(1_000_000);
        assertThat(TokenBucketState.maxDebt(coarse)).isEqualTo(2_592_000L + 1_000_000_000L * 3_600);
    }

    @Test
    void onlyBucketsDelayCalls() {
        Duration wait = Duration.ofSeconds(2);
        Limit bucket = Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofSeconds(1), 3);
        assertThat(LimitState.maxDelayMicros(bucket.withMaxWait(wait))).isEqualTo(2_000_000);
        assertThat(LimitState.maxDelayMicros(bucket)).isZero();
        assertThat(LimitState.maxDelayMicros(bucket.withPermits(0).withMaxWait(wait)))
                .isZero();
        Limit window = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofSeconds(1));
        assertThat(LimitState.maxDelayMicros(window.withMaxWait(wait))).isZero();
    }
}
