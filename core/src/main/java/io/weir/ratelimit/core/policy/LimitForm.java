// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.LimitOverride;
import java.time.ZoneId;

/**
 * The attributes that all limits of a policy share, those of its tiers and of single keys included.
 *
 * @param algorithm the algorithm of the limits with a window
 * @param zone the time zone of the calendar limits
 * @param anchor the day of the month on which their months, quarters and years begin, 1 to 31
 */
public record LimitForm(Algorithm algorithm, ZoneId zone, int anchor) {
    private static final ZoneId UTC = ZoneId.of("UTC");

    /**
     * Returns a form with the default calendar.
     *
     * @param algorithm the algorithm of the limits with a window
     * @return the form
     */
    public static LimitForm of(Algorithm algorithm) {
        return new LimitForm(algorithm, UTC, 1);
    }

    /** Returns this form with the calendar of a single key. */
    LimitForm with(LimitOverride override) {
        return new LimitForm(
                algorithm, override.zone().orElse(zone), override.anchor().orElse(anchor));
    }

    /** Returns the periods of a calendar limit. */
    CalendarPeriod period(CalendarPeriod.Unit unit) {
        return new CalendarPeriod(unit, zone, anchor);
    }
}
