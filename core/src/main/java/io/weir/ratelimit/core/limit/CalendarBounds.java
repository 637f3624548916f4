// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.CalendarPeriod;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The bounds of one period of a calendar limit, in microseconds since {@link #ORIGIN}. The start can be negative, and the end is the start
 * of the next period.
 */
public record CalendarBounds(long startMicros, long endMicros) {
    /** The origin of the clock of a backend with calendar limits. */
    public static final Instant ORIGIN = Instant.parse("2025-01-01T00:00:00Z");

    private static final long MICROS = 1_000_000;

    /**
     * The number of calendars whose current period is kept. A process has few; the bound is for keys with zones and anchors of their own.
     */
    private static final int MAX_KEPT = 1_000;

    /** The period of each calendar that was needed last. */
    private static final Map<CalendarPeriod, Pair> LATEST = new ConcurrentHashMap<>();

    /** A period and the next one. */
    private record Pair(CalendarBounds current, CalendarBounds next) {}

    /** Returns the bounds of the period that contains an instant in microseconds since {@link #ORIGIN}, which can be negative. */
    public static CalendarBounds at(CalendarPeriod period, long micros) {
        return pair(period, micros).current;
    }

    /** Returns the bounds of the period after the one that contains an instant in microseconds since {@link #ORIGIN}. */
    public static CalendarBounds after(CalendarPeriod period, long micros) {
        return pair(period, micros).next;
    }

    private static Pair pair(CalendarPeriod period, long micros) {
        Pair kept = LATEST.get(period);
        if (kept != null && kept.current.contains(micros)) {
            return kept;
        }
        CalendarBounds current = calculate(period, micros);
        Pair found = new Pair(current, calculate(period, current.endMicros));
        if (kept != null || LATEST.size() < MAX_KEPT) {
            LATEST.put(period, found);
        }
        return found;
    }

    /** Calculates the bounds without those that are kept. */
    static CalendarBounds calculate(CalendarPeriod period, long micros) {
        long second = ORIGIN.getEpochSecond() + Math.floorDiv(micros, MICROS);
        CalendarPeriod.Unit unit = period.unit();
        CalendarBoundaries boundaries = unit.compareTo(CalendarPeriod.Unit.DAY) < 0
                ? new ClockBoundaries(period.zone().getRules(), unit.length().toSeconds())
                : new DateBoundaries(period);
        return new CalendarBounds(micros(boundaries.latest(second)), micros(boundaries.after(second)));
    }

    private static long micros(long epochSecond) {
        return (epochSecond - ORIGIN.getEpochSecond()) * MICROS;
    }

    /** Tests whether the period contains an instant, from its start to before its end. */
    public boolean contains(long micros) {
        return startMicros <= micros && micros < endMicros;
    }

    public Duration length() {
        return Duration.ofSeconds((endMicros - startMicros) / MICROS);
    }

    /** Converts an instant in microseconds since {@link #ORIGIN}. */
    static ZonedDateTime dateTime(long micros, ZoneId zone) {
        return ORIGIN.plusSeconds(Math.floorDiv(micros, MICROS))
                .plusNanos(Math.floorMod(micros, MICROS) * 1_000)
                .atZone(zone);
    }
}
