// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TokenBucketStateTest {
    private static final long PERMIT = 1_000_000;
    private final Limit limit = Limit.of(Algorithm.TOKEN_BUCKET, 3, Duration.ofSeconds(1), 5);
    private final Limit coarse = Limit.of(Algorithm.TOKEN_BUCKET, 3, Duration.ofSeconds(1), 9_007_199_255L);

    @Test
    void inEachUnitAsManyPartsReturnAsTheLimitHasPermits() {
        assertThat(new TokenBucketState(100, 2 * PERMIT, 0).at(limit, 107))
                .isEqualTo(new TokenBucketState(107, 2 * PERMIT - 21, 0));
    }

    @Test
    void aBucketNeverHoldsMoreThanItsCapacity() {
        assertThat(new TokenBucketState(100, PERMIT, 0).at(limit, 100 + 333_333))
                .isEqualTo(new TokenBucketState(100 + 333_333, 1, 0));
        assertThat(new TokenBucketState(100, PERMIT, 0).at(limit, 100 + 333_334))
                .isEqualTo(LimitState.untouched(limit, 100 + 333_334));
    }

    @Test
    void aStateFromTheFutureIsTakenAsOfNow() {
        assertThat(new TokenBucketState(100, PERMIT, 0).at(limit, 40)).isEqualTo(new TokenBucketState(40, PERMIT, 0));
    }

    @Test
    void moreMissingThanTheBucketHoldsCountsAsAllOfIt() {
        assertThat(new TokenBucketState(100, 9 * PERMIT, 0).at(limit, 100))
                .isEqualTo(new TokenBucketState(100, 5 * PERMIT, 0));
    }

    @Test
    void aCoarserUnitRoundsUpWhatIsMissingAndAFinerOneIsExact() {
        assertThat(coarse.unitExponent()).isEqualTo(1);
        assertThat(new TokenBucketState(100, 11, 0).at(coarse, 100)).isEqualTo(new TokenBucketState(100, 2, 1));
        assertThat(new TokenBucketState(100, 2, 1).at(limit, 100)).isEqualTo(new TokenBucketState(100, 20, 0));
    }

    @Test
    void timeBetweenUnitsIsNotLost() {
        TokenBucketState state = new TokenBucketState(100, 50, 1);
        assertThat(state.at(coarse, 109)).isSameAs(state);
        assertThat(state.at(coarse, 119)).isEqualTo(new TokenBucketState(110, 47, 1));
        assertThat(state.at(coarse, 119).at(coarse, 120)).isEqualTo(new TokenBucketState(120, 44, 1));
    }

    @Test
    void aMissingAmountOfHugeLimitsDoesNotOverflowWhenTheUnitGetsFine() {
        TokenBucketState state = new TokenBucketState(100, 1L << 53, 6);
        assertThat(state.at(limit, 100)).isEqualTo(new TokenBucketState(100, 5 * PERMIT, 0));
    }

    @Test
    void aChargeCountedInAnotherUnitIsNotGivenBack() {
        TokenBucketState state = new TokenBucketState(100, 50, 1);
        assertThat(state.giveBack(coarse, new TokenBucketState(100, 50, 0), 1, 100))
                .isSameAs(state);
        assertThat(state.giveBack(coarse, new SlidingWindowState(100, 50, 0), 1, 100))
                .isSameAs(state);
    }

    @Test
    void aLeakyBucketIsATokenBucketOfOnePermit() {
        Limit leaky = Limit.of(Algorithm.LEAKY_BUCKET, 3, Duration.ofSeconds(1));
        LimitState state = LimitState.untouched(leaky, 100).spend(leaky, 1, 100);
        assertThat(state).isEqualTo(new TokenBucketState(100, PERMIT, 0));
        assertThat(state.fits(leaky, 1, 100)).isFalse();
        assertThat(state.waitMicros(leaky, 1, 100)).isEqualTo(333_334);
        assertThat(state.waitMicros(leaky, 2, 100)).isEqualTo(Quota.NEVER);
    }
}
