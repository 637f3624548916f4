// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FixedWindowStateTest {
    private static final long WINDOW = 60_000_000;
    private final Limit limit = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1));

    @Test
    void staysTheSameWithinItsWindow() {
        FixedWindowState state = new FixedWindowState(100, 4);
        assertThat(state.asOf(limit, 100)).isSameAs(state);
        assertThat(state.asOf(limit, 100 + WINDOW - 1)).isSameAs(state);
    }

    @Test
    void isUntouchedAfterItsWindow() {
        assertThat(new FixedWindowState(100, 4).asOf(limit, 100 + WINDOW))
                .isEqualTo(LimitState.untouched(limit, 100 + WINDOW));
    }

    @Test
    void startsItsWindowNowIfNothingIsSpent() {
        assertThat(new FixedWindowState(100, 0).asOf(limit, 130)).isEqualTo(LimitState.untouched(limit, 130));
    }

    @Test
    void aStateFromTheFutureStartsNow() {
        assertThat(new FixedWindowState(100, 4).asOf(limit, 40)).isEqualTo(new FixedWindowState(40, 4));
        assertThat(new FixedWindowState(100, 4).isAfter(99)).isTrue();
        assertThat(new FixedWindowState(100, 4).isAfter(100)).isFalse();
    }

    @Test
    void permitsAboveALoweredLimitCountAsTheWholeLimit() {
        assertThat(new FixedWindowState(100, 25).asOf(limit, 130)).isEqualTo(new FixedWindowState(100, 10));
    }

    @Test
    void allPermitsReturnAtTheEndOfTheWindow() {
        FixedWindowState state = new FixedWindowState(100, 4);
        assertThat(state.remaining(limit, 130)).isEqualTo(6);
        assertThat(state.retryAfterMicros(limit, 6, 130)).isZero();
        assertThat(state.retryAfterMicros(limit, 7, 130)).isEqualTo(WINDOW - 30);
        assertThat(state.retryAfterMicros(limit, 11, 130)).isEqualTo(Micros.NEVER);
        assertThat(state.resetAfterMicros(limit, 130)).isEqualTo(WINDOW - 30);
        assertThat(LimitState.untouched(limit, 130).resetAfterMicros(limit, 130))
                .isZero();
    }

    @Test
    void refundReturnsPermitsOfItsOwnWindowOnly() {
        FixedWindowState charged = new FixedWindowState(100, 4);
        assertThat(new FixedWindowState(100, 7).refund(limit, charged, 4, 150)).isEqualTo(new FixedWindowState(100, 3));
        FixedWindowState later = new FixedWindowState(100 + WINDOW, 7);
        assertThat(later.refund(limit, charged, 4, 150 + WINDOW)).isSameAs(later);
        assertThat(later.refund(limit, new SlidingWindowState(100 + WINDOW, 4, 0), 4, 150 + WINDOW))
                .isSameAs(later);
    }

    @Test
    void refundReturnsAtMostTheSpentPermits() {
        assertThat(new FixedWindowState(100, 3).refund(limit, new FixedWindowState(100, 7), 7, 150))
                .isEqualTo(new FixedWindowState(100, 0));
        assertThat(new FixedWindowState(100, 3).refund(limit, Long.MAX_VALUE)).isEqualTo(new FixedWindowState(100, 0));
    }
}
