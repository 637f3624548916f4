// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.WindowLimit;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A permit in the backend that one instance spends to report a used share for one period.
 *
 * <p>The period of a fixed window is its window, and the instances know its end by their clocks. The period of a calendar limit is that of
 * the calendar, and its end is exact. For the other algorithms, a period is one window long and begins when the mark is spent. The end is
 * in microseconds since the epoch by the clock of this instance.
 */
record ThresholdMark(Place place, Limit limit, long endMicros) {
    /** No policy can have a name with this beginning. */
    private static final String NAME = "+notify.";

    /** A share in percent of a limit that a key can use. */
    record Place(String storedKey, String policy, String algorithm, String window, long windowMicros, int percent) {}

    /** Creates the mark of the current period. */
    static ThresholdMark of(Charge charge, Limit limit, int percent, long nowMicros, Quota quota) {
        Place place = new Place(
                charge.storedKey(),
                charge.policy().policy(),
                (limit instanceof WindowLimit window ? window.algorithm() : Algorithm.FIXED_WINDOW).configName(),
                limit.windowText(),
                limit.windowMicros(),
                percent);
        return new ThresholdMark(place, limit, endMicros(limit, nowMicros, quota));
    }

    private static long endMicros(Limit limit, long nowMicros, Quota quota) {
        if (quota.periodEnd().isPresent()) {
            return ChronoUnit.MICROS.between(
                    Instant.EPOCH, quota.periodEnd().get().toInstant());
        }
        return nowMicros + (limit.uses(Algorithm.FIXED_WINDOW) ? Micros.resetAfter(quota) : limit.windowMicros());
    }

    /** Returns whether the period is one of the limit. Otherwise it begins when the mark is spent. */
    boolean fixed() {
        return LimitState.isFixed(limit);
    }

    /**
     * Tests whether this mark belongs to a period that is known. Ends of the same fixed window differ by the duration of calls, those of
     * different ones by a window at least. Ends of different periods of a calendar limit differ by at least half of the nominal window.
     *
     * <p>A known end that is later by more than one and a half windows is that of a clock that has stepped back since, and says nothing about
     * this period: late decisions are of the period before at most. A calendar limit does not use the clock of this instance.
     */
    boolean isOfPeriod(@Nullable Long knownEndMicros) {
        if (knownEndMicros == null) {
            return false;
        }
        long later = endMicros - knownEndMicros;
        boolean steppedBack =
                !(limit instanceof CalendarLimit) && later < -(place.windowMicros + place.windowMicros / 2);
        return !steppedBack && later < (fixed() ? place.windowMicros / 2 : place.windowMicros);
    }

    /**
     * Returns the charges that exactly one instance can spend in the period.
     *
     * <p>The name of a charge of a fixed window contains the end of the period in halves of the window. An end is in one half, counted from
     * the epoch, and in one that begins a quarter later. Ends that differ by less than a quarter share one of them. Ends of different
     * periods share none. All charges have one stored key, so they are one call of the backend.
     *
     * <p>The charge of a calendar limit ends with the period, since a period can be longer than the nominal window. Its name contains the
     * end, because the charge can be spent after that.
     */
    List<Charge> charges() {
        if (limit instanceof CalendarLimit) {
            return List.of(charge(limit.withPermits(1), endMicros + "."));
        }
        Limit once = Limit.of(Algorithm.FIXED_WINDOW, 1, Duration.ofMillis(place.windowMicros / 1_000));
        if (!fixed()) {
            return List.of(charge(once, ""));
        }
        long half = Math.max(1, place.windowMicros / 2);
        return List.of(
                charge(once, "a" + Math.floorDiv(endMicros, half) + "."),
                charge(once, "b" + Math.floorDiv(endMicros + half / 2, half) + "."));
    }

    private Charge charge(Limit once, String period) {
        String limitName = place.algorithm + "." + place.window;
        String name = NAME + place.percent + "." + limitName + "." + period + place.policy;
        return new Charge(new PolicyLimits(name, List.of(once)), place.storedKey, 1);
    }
}
