// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.time.Duration;

/** A limit of permits per period of the calendar. {@link Limit#of(long, CalendarPeriod)} creates it. */
public final class CalendarLimit extends Limit {
    private final CalendarPeriod period;

    CalendarLimit(long permits, CalendarPeriod period, Duration maxWait) {
        super(
                checkedPermits(permits, "permits"),
                permits,
                period.unit().length(),
                checkedMaxWait(maxWait),
                timeOf(period.unit().length()));
        this.period = period;
    }

    /**
     * Returns the periods.
     *
     * @return the periods
     */
    public CalendarPeriod period() {
        return period;
    }

    @Override
    public CalendarLimit withMaxWait(Duration wait) {
        return new CalendarLimit(permits(), period, wait);
    }

    @Override
    public CalendarLimit withPermits(long other) {
        return of(other, period);
    }

    @Override
    public String windowText() {
        return period.unit().configName();
    }

    @Override
    Object kindOf() {
        return period;
    }

    @Override
    public String toString() {
        return permits() + "/" + period + maxWaitText();
    }
}
