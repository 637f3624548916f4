// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SlidingWindowStateTest {
    private static final long WINDOW = 60_000_000;
    private final Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofMinutes(1));

    @Test
    void staysTheSameWithinItsWindow() {
        SlidingWindowState state = new SlidingWindowState(100, 4, 3);
        assertThat(state.asOf(limit, 100 + WINDOW - 1)).isSameAs(state);
    }

    @Test
    void currentPermitsBecomePreviousInTheNextWindow() {
        assertThat(new SlidingWindowState(100, 4, 3).asOf(limit, 100 + WINDOW))
                .isEqualTo(new SlidingWindowState(100 + WINDOW, 0, 4));
    }

    @Test
    void isUntouchedAfterTwoWindows() {
        long now = 100 + 2 * WINDOW;
        assertThat(new SlidingWindowState(100, 4, 3).asOf(limit, now - 1))
                .isEqualTo(new SlidingWindowState(100 + WINDOW, 0, 4));
        assertThat(new SlidingWindowState(100, 4, 3).asOf(limit, now)).isEqualTo(LimitState.untouched(limit, now));
    }

    @Test
    void startsItsWindowNowIfNothingIsSpent() {
        assertThat(new SlidingWindowState(100, 0, 0).asOf(limit, 130)).isEqualTo(LimitState.untouched(limit, 130));
        assertThat(new SlidingWindowState(100, 0, 3).asOf(limit, 100 + WINDOW))
                .isEqualTo(LimitState.untouched(limit, 100 + WINDOW));
    }

    @Test
    void aStateFromTheFutureStartsNow() {
        assertThat(new SlidingWindowState(100, 4, 3).asOf(limit, 40)).isEqualTo(new SlidingWindowState(40, 4, 3));
    }

    @Test
    void permitsAboveALoweredLimitCountAsTheWholeLimit() {
        assertThat(new SlidingWindowState(100, 25, 11).asOf(limit, 100)).isEqualTo(new SlidingWindowState(100, 10, 10));
    }

    @Test
    void refundReturnsPermitsOfItsOwnWindowOnly() {
        SlidingWindowState charged = new SlidingWindowState(100, 4, 0);
        assertThat(new SlidingWindowState(100, 7, 2).refund(limit, charged, 4, 150))
                .isEqualTo(new SlidingWindowState(100, 3, 2));
        assertThat(new SlidingWindowState(100 + WINDOW, 7, 5).refund(limit, charged, 4, 150 + WINDOW))
                .isEqualTo(new SlidingWindowState(100 + WINDOW, 7, 1));
        SlidingWindowState later = new SlidingWindowState(101 + WINDOW, 7, 5);
        assertThat(later.refund(limit, charged, 4, 150 + WINDOW)).isSameAs(later);
        assertThat(later.refund(limit, new TokenBucketState(100, 4, 0), 4, 150)).isSameAs(later);
    }
}
