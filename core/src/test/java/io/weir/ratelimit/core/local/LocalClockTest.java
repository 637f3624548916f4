// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.limit.CalendarBounds;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LocalClockTest {
    private static final long HOUR = TimeUnit.HOURS.toMillis(1);

    private final AtomicLong nanos = new AtomicLong(-5);
    private final AtomicLong millis = new AtomicLong(CalendarBounds.ORIGIN.toEpochMilli() + HOUR);
    private final LocalClock clock = new LocalClock(nanos::get, millis::get);

    @Test
    void shows_the_time_since_the_origin() {
        assertThat(clock.micros()).isEqualTo(HOUR * 1_000);

        nanos.addAndGet(1_500_000);

        assertThat(clock.micros()).isEqualTo(HOUR * 1_000 + 1_500);
    }

    @Test
    void ignores_small_corrections_of_the_system_clock() {
        advance(2_000);
        millis.addAndGet(-900);

        assertThat(clock.micros()).isEqualTo((HOUR + 2_000) * 1_000);
    }

    @Test
    void follows_the_system_clock_after_a_large_change_within_a_second() {
        millis.addAndGet(HOUR);
        advance(999);
        assertThat(clock.micros()).isEqualTo((HOUR + 999) * 1_000);

        advance(1);
        assertThat(clock.micros()).isEqualTo((2 * HOUR + 1_000) * 1_000);

        millis.addAndGet(-2 * HOUR);
        advance(1_000);
        assertThat(clock.micros()).isEqualTo(2_000 * 1_000);
    }

    @Test
    void is_never_negative() {
        millis.set(0);
        advance(1_000);

        assertThat(clock.micros()).isZero();
    }

    @Test
    void convertsItsTimeToTheMonotonicClock() {
        advance(2_500);
        long time = clock.micros();
        assertThat(clock.nanos(time)).isEqualTo(nanos.get());

        millis.addAndGet(HOUR);
        advance(1_000);
        clock.micros();
        assertThat(clock.nanos(time)).as("a time from before a step").isEqualTo(nanos.get());
    }

    private void advance(long step) {
        nanos.addAndGet(step * 1_000_000);
        millis.addAndGet(step);
    }
}
