// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** Texts of the ends of the periods of calendar limits, for people. */
public final class PeriodEnd {
    private static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern("d MMMM HH:mm VV", Locale.ENGLISH);
    private static final DateTimeFormatter WITH_OFFSET =
            DateTimeFormatter.ofPattern("d MMMM HH:mm xxx VV", Locale.ENGLISH);

    private PeriodEnd() {}

    /**
     * Returns the day, the time and the zone of an end, such as {@code 1 December 00:00 Europe/Berlin}. If the local time occurs twice,
     * because the clock goes back, the text has the offset, such as {@code 25 October 02:00 +01:00 Europe/Berlin}.
     */
    public static String text(ZonedDateTime end) {
        boolean occursTwice =
                end.getZone().getRules().getValidOffsets(end.toLocalDateTime()).size() > 1;
        return (occursTwice ? WITH_OFFSET : FORMAT).format(end);
    }

    /** Returns the text of a limit, with the end of the period that contains an instant if it is a calendar limit. */
    public static String withEnd(Limit limit, Instant instant) {
        return limit instanceof CalendarLimit calendar
                ? limit + " (resets on " + text(calendar.period(), instant) + ")"
                : limit.toString();
    }

    /** Returns the text of the end of the period that contains an instant, such as {@code 1 December 00:00 Europe/Berlin}. */
    public static String text(CalendarPeriod period, Instant instant) {
        CalendarBounds bounds = CalendarBounds.at(period, ChronoUnit.MICROS.between(CalendarBounds.ORIGIN, instant));
        return text(CalendarBounds.dateTime(bounds.endMicros(), period.zone()));
    }
}
