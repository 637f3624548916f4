// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.CalendarPeriod.Unit;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.zone.ZoneRules;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * A reference for the periods of a calendar, written after the documentation and without regard to speed. It examines each second of hours
 * and minutes, and each date of longer periods. It shares no code with a backend.
 */
public final class ReferenceCalendar {
    private final CalendarPeriod period;

    /** The known boundaries in seconds since 1970, without a gap. */
    private final NavigableSet<Long> boundaries = new TreeSet<>();

    /**
     * Creates a reference.
     *
     * @param period the calendar
     */
    public ReferenceCalendar(CalendarPeriod period) {
        this.period = period;
    }

    /**
     * Returns the start of the period that contains an instant.
     *
     * @param epochSecond the instant, in seconds since 1970-01-01T00:00:00Z
     * @return the start
     */
    public long start(long epochSecond) {
        return around(epochSecond).floor(epochSecond);
    }

    /**
     * Returns the end of the period that contains an instant.
     *
     * @param epochSecond the instant, in seconds since 1970-01-01T00:00:00Z
     * @return the end
     */
    public long end(long epochSecond) {
        return around(epochSecond).higher(epochSecond);
    }

    private NavigableSet<Long> around(long epochSecond) {
        if (boundaries.floor(epochSecond) == null || boundaries.higher(epochSecond) == null) {
            boundaries.clear();
            if (period.unit().compareTo(Unit.DAY) < 0) {
                addClock(epochSecond);
            } else {
                addDates(epochSecond);
            }
        }
        return boundaries;
    }

    /** Adds the last and the next second at which the clock shows a multiple of the length, or has skipped one. */
    private void addClock(long epochSecond) {
        long second = epochSecond;
        while (!isMultiple(second)) {
            second--;
        }
        boundaries.add(second);
        second = epochSecond + 1;
        while (!isMultiple(second)) {
            second++;
        }
        boundaries.add(second);
    }

    private boolean isMultiple(long second) {
        long length = period.unit().length().toSeconds();
        long shown = shown(second);
        return Math.floorMod(shown, length) == 0
                || Math.floorDiv(shown, length) > Math.floorDiv(shown(second - 1), length);
    }

    private long shown(long epochSecond) {
        ZoneRules rules = period.zone().getRules();
        return epochSecond + rules.getOffset(Instant.ofEpochSecond(epochSecond)).getTotalSeconds();
    }

    /** Adds the first instant of the last and of the next date that begins a period. */
    private void addDates(long epochSecond) {
        LocalDate today = LocalDate.ofInstant(Instant.ofEpochSecond(epochSecond), period.zone());
        LocalDate date = today;
        while (!begins(date)) {
            date = date.minusDays(1);
        }
        boundaries.add(start(date));
        date = today.plusDays(1);
        while (!begins(date) || start(date) <= epochSecond) {
            date = date.plusDays(1);
        }
        boundaries.add(start(date));
    }

    private long start(LocalDate date) {
        return date.atStartOfDay(period.zone()).toEpochSecond();
    }

    private boolean begins(LocalDate date) {
        int last = YearMonth.from(date).lengthOfMonth();
        boolean anchored = date.getDayOfMonth() == Math.min(period.anchor(), last);
        return switch (period.unit()) {
            case WEEK -> date.getDayOfWeek() == DayOfWeek.MONDAY;
            case MONTH -> anchored;
            case QUARTER -> anchored && date.getMonthValue() % 3 == 1;
            case YEAR -> anchored && date.getMonthValue() == 1;
            default -> true;
        };
    }
}
