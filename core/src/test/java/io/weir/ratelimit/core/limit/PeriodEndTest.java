// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.CalendarPeriod.Unit;
import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;

class PeriodEndTest {
    @Test
    void names_the_day_the_time_and_the_zone() {
        Instant instant = Instant.parse("2026-11-24T12:00:00Z");

        assertThat(PeriodEnd.text(new CalendarPeriod(Unit.MONTH, ZoneId.of("Europe/Berlin"), 1), instant))
                .isEqualTo("1 December 00:00 Europe/Berlin");
        assertThat(PeriodEnd.text(new CalendarPeriod(Unit.HOUR, ZoneId.of("Asia/Kathmandu"), 1), instant))
                .isEqualTo("24 November 18:00 Asia/Kathmandu");
    }

    @Test
    void namesTheOffsetOfATimeThatOccursTwice() {
        CalendarPeriod hour = new CalendarPeriod(Unit.HOUR, ZoneId.of("Europe/Berlin"), 1);

        assertThat(PeriodEnd.text(hour, Instant.parse("2026-10-24T23:30:00Z")))
                .isEqualTo("25 October 02:00 +02:00 Europe/Berlin");
        assertThat(PeriodEnd.text(hour, Instant.parse("2026-10-25T00:30:00Z")))
                .isEqualTo("25 October 02:00 +01:00 Europe/Berlin");
        assertThat(PeriodEnd.text(hour, Instant.parse("2026-10-25T01:30:00Z")))
                .isEqualTo("25 October 03:00 Europe/Berlin");
    }
}
