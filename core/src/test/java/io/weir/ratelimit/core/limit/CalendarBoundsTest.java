// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.CalendarPeriod.Unit;
import io.weir.ratelimit.tck.ReferenceCalendar;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class CalendarBoundsTest {
    private static final Instant FIRST = Instant.parse("1900-01-01T00:00:00Z");
    private static final Instant LAST = Instant.parse("2300-01-01T00:00:00Z");
    private static final List<String> ZONES =
            ZoneId.getAvailableZoneIds().stream().sorted().toList();
    private static final int CASES = 4_000;

    @ParameterizedTest
    @CsvSource({
        // a day of 23 and of 25 hours
        "DAY, Europe/Berlin, 1, 2026-03-29T12:00:00Z, 2026-03-28T23:00:00Z, 2026-03-29T22:00:00Z",
        "DAY, Europe/Berlin, 1, 2026-10-25T12:00:00Z, 2026-10-24T22:00:00Z, 2026-10-25T23:00:00Z",
        // an hour that the clock shows twice, and one that it skips
        "HOUR, Europe/Berlin, 1, 2026-10-25T00:30:00Z, 2026-10-25T00:00:00Z, 2026-10-25T01:00:00Z",
        "HOUR, Europe/Berlin, 1, 2026-10-25T01:30:00Z, 2026-10-25T01:00:00Z, 2026-10-25T02:00:00Z",
        "HOUR, Europe/Berlin, 1, 2026-03-29T01:30:00Z, 2026-03-29T01:00:00Z, 2026-03-29T02:00:00Z",
        // half an hour of daylight saving: an hour of 90 and one of 30 minutes
        "HOUR, Australia/Lord_Howe, 1, 2026-04-04T15:10:00Z, 2026-04-04T14:00:00Z, 2026-04-04T15:30:00Z",
        "HOUR, Australia/Lord_Howe, 1, 2026-10-03T15:45:00Z, 2026-10-03T15:30:00Z, 2026-10-03T16:00:00Z",
        // offsets that are not whole hours
        "HOUR, Asia/Kathmandu, 1, 2026-07-01T00:00:00Z, 2026-06-30T23:15:00Z, 2026-07-01T00:15:00Z",
        "DAY, Pacific/Chatham, 1, 2026-07-01T00:00:00Z, 2026-06-30T11:15:00Z, 2026-07-01T11:15:00Z",
        // no midnight: the day begins at 01:00
        "DAY, Africa/Cairo, 1, 2026-04-24T00:00:00Z, 2026-04-23T22:00:00Z, 2026-04-24T21:00:00Z",
        // midnight twice: the clock is set back from 01:00 to 00:00, and from 24:00 to 23:00
        "DAY, America/Havana, 1, 2026-11-01T05:30:00Z, 2026-11-01T04:00:00Z, 2026-11-02T05:00:00Z",
        "DAY, America/Sao_Paulo, 1, 2018-02-18T02:30:00Z, 2018-02-17T02:00:00Z, 2018-02-18T03:00:00Z",
        // the date line: Samoa skipped the 30th of December 2011
        "DAY, Pacific/Apia, 1, 2011-12-30T09:59:59Z, 2011-12-29T10:00:00Z, 2011-12-30T10:00:00Z",
        "DAY, Pacific/Apia, 1, 2011-12-30T10:00:00Z, 2011-12-30T10:00:00Z, 2011-12-31T10:00:00Z",
        "MONTH, Pacific/Apia, 30, 2011-12-30T10:00:00Z, 2011-12-30T10:00:00Z, 2012-01-29T10:00:00Z",
        // the same instant in zones on both sides of the date line
        "DAY, Pacific/Kiritimati, 1, 2026-06-01T11:00:00Z, 2026-06-01T10:00:00Z, 2026-06-02T10:00:00Z",
        "DAY, Pacific/Pago_Pago, 1, 2026-06-01T11:00:00Z, 2026-06-01T11:00:00Z, 2026-06-02T11:00:00Z",
        "WEEK, UTC, 1, 2026-11-24T00:00:00Z, 2026-11-23T00:00:00Z, 2026-11-30T00:00:00Z",
        "MONTH, Europe/Berlin, 1, 2026-11-24T00:00:00Z, 2026-10-31T23:00:00Z, 2026-11-30T23:00:00Z",
        // leap days and anchors after the end of the month
        "MONTH, UTC, 31, 2028-02-29T00:00:00Z, 2028-02-29T00:00:00Z, 2028-03-31T00:00:00Z",
        "MONTH, UTC, 31, 2028-02-28T23:59:59Z, 2028-01-31T00:00:00Z, 2028-02-29T00:00:00Z",
        "MONTH, UTC, 30, 2027-02-28T00:00:00Z, 2027-02-28T00:00:00Z, 2027-03-30T00:00:00Z",
        "MONTH, UTC, 29, 2100-02-28T00:00:00Z, 2100-02-28T00:00:00Z, 2100-03-29T00:00:00Z",
        "MONTH, UTC, 15, 2026-01-14T23:59:59Z, 2025-12-15T00:00:00Z, 2026-01-15T00:00:00Z",
        "QUARTER, UTC, 1, 2026-11-24T00:00:00Z, 2026-10-01T00:00:00Z, 2027-01-01T00:00:00Z",
        "QUARTER, UTC, 31, 2026-04-29T00:00:00Z, 2026-01-31T00:00:00Z, 2026-04-30T00:00:00Z",
        "YEAR, UTC, 15, 2026-01-10T00:00:00Z, 2025-01-15T00:00:00Z, 2026-01-15T00:00:00Z",
        "YEAR, UTC, 1, 2028-12-31T23:59:59Z, 2028-01-01T00:00:00Z, 2029-01-01T00:00:00Z",
        "MINUTE, UTC, 1, 2026-01-10T10:20:30Z, 2026-01-10T10:20:00Z, 2026-01-10T10:21:00Z"
    })
    @Tag("field")
    void bounds(Unit unit, String zone, int anchor, Instant instant, Instant start, Instant end) {
        CalendarPeriod period = new CalendarPeriod(unit, ZoneId.of(zone), anchor);

        CalendarBounds bounds = CalendarBounds.at(period, micros(instant));

        assertThat(bounds).isEqualTo(new CalendarBounds(micros(start), micros(end)));
        assertThat(CalendarBounds.at(period, bounds.endMicros() - 1)).isEqualTo(bounds);
        assertThat(CalendarBounds.at(period, bounds.endMicros()).startMicros()).isEqualTo(bounds.endMicros());
    }

    @ParameterizedTest
    @EnumSource(Unit.class)
    void agrees_with_java_time_over_400_years(Unit unit) {
        long seed = Long.getLong("weir.test.seed", 1);
        System.out.printf("CalendarBoundsTest %s: -Dweir.test.seed=%d%n", unit, seed);
        Random random = new Random(seed);
        for (int i = 0; i < CASES; i++) {
            ZoneId zone = ZoneId.of(ZONES.get(random.nextInt(ZONES.size())));
            CalendarPeriod period = new CalendarPeriod(unit, zone, 1 + random.nextInt(CalendarPeriod.MAX_ANCHOR));
            long second = instant(random, zone.getRules());
            ReferenceCalendar reference = new ReferenceCalendar(period);

            CalendarBounds bounds = CalendarBounds.calculate(period, micros(Instant.ofEpochSecond(second)));

            assertThat(bounds)
                    .as("%s at %s", period, Instant.ofEpochSecond(second))
                    .isEqualTo(new CalendarBounds(
                            micros(Instant.ofEpochSecond(reference.start(second))),
                            micros(Instant.ofEpochSecond(reference.end(second)))));
        }
    }

    @Test
    void keeps_a_bounded_number_of_periods_and_stays_right() {
        List<CalendarPeriod> periods = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            periods.add(new CalendarPeriod(Unit.MONTH, ZoneId.of(ZONES.get(i % ZONES.size())), 1 + i / ZONES.size()));
        }
        for (String text : List.of("2026-01-10T10:20:30Z", "2026-02-10T10:20:30Z", "2025-02-10T10:20:30Z")) {
            long micros = micros(Instant.parse(text));
            for (CalendarPeriod period : periods) {
                assertThat(CalendarBounds.at(period, micros)).isEqualTo(CalendarBounds.calculate(period, micros));
            }
        }
    }

    /** Returns any instant, or one close to a change of the offset. */
    private static long instant(Random random, ZoneRules rules) {
        Instant any = FIRST.plusSeconds(random.nextLong(FIRST.until(LAST, ChronoUnit.SECONDS)));
        ZoneOffsetTransition change = random.nextBoolean() ? rules.nextTransition(any) : null;
        return change == null
                ? any.getEpochSecond()
                : change.toEpochSecond() + random.nextInt(random.nextBoolean() ? 3 : 100_000) - 1;
    }

    private static long micros(Instant instant) {
        return ChronoUnit.MICROS.between(CalendarBounds.ORIGIN, instant);
    }
}
