// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The periods of a calendar limit: consecutive minutes, hours, days, weeks, months, quarters or years by the clock of a time zone.
 *
 * <p>A minute or an hour begins when the clock of the zone shows its first second. If the clock shows an hour twice, these are two hours. A
 * day begins at the first instant of its date. A week begins on Monday, a month on the day {@code anchor}. A quarter begins on that day of
 * January, April, July and October, a year on that day of January.
 *
 * @param unit the unit
 * @param zone the time zone
 * @param anchor the day of the month on which a month, a quarter or a year begins, 1 to 31; in a shorter month its last day. It is 1 for
 *     the other units, whatever the argument is
 */
public record CalendarPeriod(Unit unit, ZoneId zone, int anchor) {
    /** The greatest value of {@code anchor}. */
    public static final int MAX_ANCHOR = 31;

    /** A unit of the calendar. */
    public enum Unit {
        /** A minute. */
        MINUTE(Duration.ofMinutes(1)),
        /** An hour. */
        HOUR(Duration.ofHours(1)),
        /** A day. */
        DAY(Duration.ofDays(1)),
        /** A week, from Monday on. */
        WEEK(Duration.ofDays(7)),
        /** A month. */
        MONTH(Duration.ofDays(31)),
        /** Three months. */
        QUARTER(Duration.ofDays(92)),
        /** A year. */
        YEAR(Duration.ofDays(366));

        private final Duration length;

        Unit(Duration length) {
            this.length = length;
        }

        /**
         * Returns the name of the unit in configuration.
         *
         * @return the name, such as {@code month}
         */
        public String configName() {
            return name().toLowerCase(Locale.ROOT);
        }

        /**
         * Returns the nominal length of a period: that of the longest one without a change of the zone's offset. It is part of the stored
         * format.
         *
         * @return the length, such as 31 days for a month
         */
        public Duration length() {
            return length;
        }

        /**
         * Returns the unit with a name.
         *
         * @param name the name in configuration
         * @return the unit; empty if there is none
         */
        public static Optional<Unit> named(String name) {
            return Arrays.stream(values())
                    .filter(unit -> unit.configName().equals(name))
                    .findFirst();
        }

        /**
         * Lists the names of all units.
         *
         * @return the names, separated by commas
         */
        public static String names() {
            return Arrays.stream(values()).map(Unit::configName).collect(Collectors.joining(", "));
        }
    }

    /** Checks that no component is null and that the anchor is in range. */
    public CalendarPeriod {
        Objects.requireNonNull(unit, "unit");
        Objects.requireNonNull(zone, "zone");
        if (anchor < 1 || anchor > MAX_ANCHOR) {
            throw new IllegalArgumentException("anchor must be from 1 to " + MAX_ANCHOR);
        }
        anchor = unit.compareTo(Unit.MONTH) < 0 ? 1 : anchor;
    }

    /** Returns the unit, the zone, and the anchor if it is not 1, such as {@code month Europe/Berlin anchor 15}. */
    @Override
    public String toString() {
        return unit.configName() + " " + zone + (anchor == 1 ? "" : " anchor " + anchor);
    }
}
