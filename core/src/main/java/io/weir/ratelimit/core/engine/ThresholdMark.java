// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A permit in the backend that one instance spends to report a used share for one period.
 *
 * <p>The period of a fixed window is its window, and the instances know its end by their clocks. For the other algorithms, a period is one
 * window long and begins when the mark is spent.
 *
 * @param place the key, the limit and the share
 * @param endMicros the end of the period by the clock of this instance, in microseconds since the epoch
 * @param fixed whether the period is that of a fixed window
 */
record ThresholdMark(Place place, long endMicros, boolean fixed) {
    /** No policy can have a name with this beginning. */
    private static final String NAME = "+notify.";

    /**
     * A share of a limit that a key can use.
     *
     * @param storedKey the stored key
     * @param policy the name of the policy
     * @param algorithm the algorithm of the limit
     * @param windowMicros the window of the limit, in microseconds
     * @param percent the share in percent
     */
    record Place(String storedKey, String policy, Algorithm algorithm, long windowMicros, int percent) {}

    /** Creates the mark of the current period. */
    static ThresholdMark of(Charge charge, Limit limit, int percent, long nowMicros, long resetAfterMicros) {
        boolean fixed = limit.algorithm() == Algorithm.FIXED_WINDOW;
        Place place = new Place(
                charge.storedKey(), charge.policy().policy(), limit.algorithm(), limit.windowMicros(), percent);
        return new ThresholdMark(place, nowMicros + (fixed ? resetAfterMicros : limit.windowMicros()), fixed);
    }

    /**
     * Tests whether this mark belongs to a period that is known. Ends of the same fixed window differ by the duration of calls, those of
     * different ones by a window at least.
     */
    boolean isOfPeriod(@Nullable Long knownEndMicros) {
        return knownEndMicros != null
                && endMicros - knownEndMicros < (fixed ? place.windowMicros / 2 : place.windowMicros);
    }

    /**
     * Returns the charges that exactly one instance can spend in the period.
     *
     * <p>The name of a charge of a fixed window contains the end of the period in halves of the window. An end is in one half, counted from
     * the epoch, and in one that begins a quarter later. Ends that differ by less than a quarter share one of them. Ends of different
     * periods share none. All charges have one stored key, so they are one call of the backend.
     */
    List<Charge> charges() {
        if (!fixed) {
            return List.of(charge(""));
        }
        long half = Math.max(1, place.windowMicros / 2);
        return List.of(
                charge("a" + Math.floorDiv(endMicros, half) + "."),
                charge("b" + Math.floorDiv(endMicros + half / 2, half) + "."));
    }

    private Charge charge(String period) {
        Limit once = Limit.of(Algorithm.FIXED_WINDOW, 1, Duration.ofMillis(place.windowMicros / 1_000));
        String name = NAME + place.percent + "." + place.algorithm.letter() + place.windowMicros / 1_000 + "." + period
                + place.policy;
        return new Charge(new PolicyLimits(name, List.of(once)), place.storedKey, 1);
    }
}
