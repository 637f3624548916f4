// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import java.time.Duration;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;

class LimitKindsTest {
    private final WindowLimit window = Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofSeconds(1));
    private final CalendarLimit calendar =
            Limit.of(10, new CalendarPeriod(CalendarPeriod.Unit.DAY, ZoneId.of("UTC"), 1));
    private final ConcurrencyLimit slots = Limit.concurrency(10, Duration.ofSeconds(1));

    private static String kind(Limit limit) {
        return limit.fold(
                ofWindow -> "window of " + ofWindow.algorithm(),
                ofCalendar -> "calendar of " + ofCalendar.period(),
                ofConcurrency -> ofConcurrency.permits() + " slots");
    }

    @Test
    void eachKindHasItsFunction() {
        assertThat(kind(window)).isEqualTo("window of TOKEN_BUCKET");
        assertThat(kind(calendar)).isEqualTo("calendar of day UTC");
        assertThat(kind(slots)).isEqualTo("10 slots");
    }

    @Test
    void onlyALimitWithAWindowUsesAnAlgorithm() {
        assertThat(window.uses(Algorithm.TOKEN_BUCKET)).isTrue();
        assertThat(window.uses(Algorithm.FIXED_WINDOW)).isFalse();
        assertThat(calendar.uses(Algorithm.FIXED_WINDOW)).isFalse();
        assertThat(slots.uses(Algorithm.FIXED_WINDOW)).isFalse();
        assertThat(window.isBucket()).isTrue();
        assertThat(window.withPermits(5).isBucket()).isTrue();
    }

    @Test
    void limitsOfDifferentKindsDiffer() {
        assertThat(slots)
                .isEqualTo(slots.withPermits(10))
                .hasSameHashCodeAs(slots.withPermits(10))
                .isNotEqualTo(Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofSeconds(1)));
    }
}
