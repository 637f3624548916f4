// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.limit.CalendarBounds;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.CalendarPeriod.Unit;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Approximate counts of calendar limits in a full backend. */
class CalendarSketchTest {
    private final AtomicLong micros = new AtomicLong();
    private final LocalBackend backend = new LocalBackend(1, micros::get);

    private static PolicyLimits policy(Unit unit, String zone) {
        return new PolicyLimits("quota", List.of(Limit.of(3, new CalendarPeriod(unit, ZoneId.of(zone), 1))));
    }

    private int allowedAt(String instant, PolicyLimits policy) {
        micros.set(ChronoUnit.MICROS.between(CalendarBounds.ORIGIN, Instant.parse(instant)));
        // The only place has a key that is never untouched.
        Keys.exhaust(backend, policy(Unit.YEAR, "UTC"), "k.stored");
        return Keys.allowed(backend, policy, "k.new", 5);
    }

    @Test
    void aNewKeySpendsItsPermitsOncePerMonth() {
        PolicyLimits monthly = policy(Unit.MONTH, "UTC");
        assertThat(allowedAt("2026-11-10T00:00:00Z", monthly)).isEqualTo(3);
        assertThat(allowedAt("2026-11-30T23:59:59Z", monthly)).isZero();
        assertThat(allowedAt("2026-12-01T00:00:00Z", monthly)).isEqualTo(3);
        assertThat(allowedAt("2026-12-31T23:59:59Z", monthly)).isZero();
    }

    @Test
    void aNewKeySpendsItsPermitsOnceInAnHourOf90Minutes() {
        PolicyLimits hourly = policy(Unit.HOUR, "Australia/Lord_Howe");
        assertThat(allowedAt("2026-04-04T14:00:00Z", hourly)).isEqualTo(3);
        assertThat(allowedAt("2026-04-04T15:29:59Z", hourly)).isZero();
    }
}
