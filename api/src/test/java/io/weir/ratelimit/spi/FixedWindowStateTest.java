// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FixedWindowStateTest {
    private static final long WINDOW = 60_000_000;
    private final Limit limit = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1));

    @Test
    void withinItsWindowItStaysAsItIs() {
        FixedWindowState state = new FixedWindowState(100, 4);
        assertThat(state.at(limit, 100)).isSameAs(state);
        assertThat(state.at(limit, 100 + WINDOW - 1)).isSameAs(state);
    }

    @Test
    void afterItsWindowItIsUntouched() {
        assertThat(new FixedWindowState(100, 4).at(limit, 100 + WINDOW))
                .isEqualTo(LimitState.untouched(limit, 100 + WINDOW));
    }

    @Test
    void withNothingSpentTheWindowStartsNow() {
        assertThat(new FixedWindowState(100, 0).at(limit, 130)).isEqualTo(LimitState.untouched(limit, 130));
    }

    @Test
    void aStateFromTheFutureIsTakenAsOfNow() {
        assertThat(new FixedWindowState(100, 4).at(limit, 40)).isEqualTo(new FixedWindowState(40, 4));
        assertThat(new FixedWindowState(100, 4).isAfter(99)).isTrue();
        assertThat(new FixedWindowState(100, 4).isAfter(100)).isFalse();
    }

    @Test
    void whatExceedsTheLimitCountsAsAllOfIt() {
        assertThat(new FixedWindowState(100, 25).at(limit, 130)).isEqualTo(new FixedWindowState(100, 10));
    }

    @Test
    void everythingReturnsAtTheEndOfTheWindow() {
        FixedWindowState state = new FixedWindowState(100, 4);
        assertThat(state.remaining(limit, 130)).isEqualTo(6);
        assertThat(state.waitMicros(limit, 6, 130)).isZero();
        assertThat(state.waitMicros(limit, 7, 130)).isEqualTo(WINDOW - 30);
        assertThat(state.waitMicros(limit, 11, 130)).isEqualTo(Quota.NEVER);
        assertThat(state.resetMicros(limit, 130)).isEqualTo(WINDOW - 30);
        assertThat(LimitState.untouched(limit, 130).resetMicros(limit, 130)).isZero();
    }

    @Test
    void aChargeIsGivenBackInItsOwnWindowOnly() {
        FixedWindowState charged = new FixedWindowState(100, 4);
        assertThat(new FixedWindowState(100, 7).giveBack(limit, charged, 4, 150))
                .isEqualTo(new FixedWindowState(100, 3));
        FixedWindowState later = new FixedWindowState(100 + WINDOW, 7);
        assertThat(later.giveBack(limit, charged, 4, 150 + WINDOW)).isSameAs(later);
        assertThat(later.giveBack(limit, new SlidingWindowState(100 + WINDOW, 4, 0), 4, 150 + WINDOW))
                .isSameAs(later);
    }

    @Test
    void noMoreIsGivenBackThanWasSpent() {
        assertThat(new FixedWindowState(100, 3).giveBack(limit, new FixedWindowState(100, 7), 7, 150))
                .isEqualTo(new FixedWindowState(100, 0));
        assertThat(new FixedWindowState(100, 3).giveBack(limit, Long.MAX_VALUE))
                .isEqualTo(new FixedWindowState(100, 0));
    }
}
