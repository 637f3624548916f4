// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.CalendarPeriod;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.temporal.TemporalAdjusters;

/**
 * The boundaries of days and longer periods. A period begins at the first instant at which its zone has its first date, or a later date:
 * some zones have skipped a date.
 */
record DateBoundaries(CalendarPeriod period) implements CalendarBoundaries {
    @Override
    public long latest(long epochSecond) {
        LocalDate first = firstDate(epochSecond);
        // The clock of a zone can be set back over midnight. The period has begun nevertheless.
        LocalDate later = next(first);
        return start(later) <= epochSecond ? start(later) : start(first);
    }

    @Override
    public long after(long epochSecond) {
        LocalDate later = next(firstDate(epochSecond));
        while (start(later) <= epochSecond) {
            later = next(later);
        }
        return start(later);
    }

    /** Returns the first date of the period of the date that a zone has at an instant. */
    private LocalDate firstDate(long epochSecond) {
        LocalDate date = LocalDate.ofInstant(Instant.ofEpochSecond(epochSecond), period.zone());
        return switch (period.unit()) {
            case WEEK -> date.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
            case MONTH -> firstDate(date, 1);
            case QUARTER -> firstDate(date, 3);
            case YEAR -> firstDate(date, 12);
            default -> date;
        };
    }

    /** Returns the latest first date of a period of some months that is not after a date. */
    private LocalDate firstDate(LocalDate date, int months) {
        YearMonth month = YearMonth.from(date).minusMonths((date.getMonthValue() - 1) % months);
        LocalDate first = dateOf(month);
        return first.isAfter(date) ? dateOf(month.minusMonths(months)) : first;
    }

    private LocalDate next(LocalDate first) {
        return switch (period.unit()) {
            case WEEK -> first.plusWeeks(1);
            case MONTH -> dateOf(YearMonth.from(first).plusMonths(1));
            case QUARTER -> dateOf(YearMonth.from(first).plusMonths(3));
            case YEAR -> dateOf(YearMonth.from(first).plusYears(1));
            default -> first.plusDays(1);
        };
    }

    private LocalDate dateOf(YearMonth month) {
        return month.atDay(Math.min(period.anchor(), month.lengthOfMonth()));
    }

    private long start(LocalDate date) {
        return date.atStartOfDay(period.zone()).toEpochSecond();
    }
}
