// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import io.weir.ratelimit.core.metrics.Outcome;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The decisions of one minute.
 *
 * @param counts the number of decisions by outcome, without outcomes that did not occur
 * @param recent the number of decisions by outcome in the last {@link #RATE_SECONDS} seconds
 * @param decided the number of decisions per second, the oldest second first
 * @param utilization the utilization of the limits; empty if no decision had quotas
 */
public record Rates(
        Map<Outcome, Long> counts,
        Map<Outcome, Long> recent,
        List<Long> decided,
        List<Long> rejected,
        Optional<Utilization> utilization) {
    /** The number of seconds, without the current second. */
    public static final int SECONDS = 60;

    /** The number of seconds over which a rate is computed. */
    public static final int RATE_SECONDS = 10;

    static final Rates NONE = new Sum().rates(Optional.empty());

    /** The mean and the maximum over the decisions of the spent part of the fullest limits, from 0 to 1. */
    public record Utilization(double mean, double max) {}

    public static boolean isRejection(Outcome outcome) {
        return outcome == Outcome.REJECTED || outcome == Outcome.BLOCKED || outcome == Outcome.DEGRADED_REJECTED;
    }

    /** A mutable sum of decisions. */
    static final class Sum {
        private final Map<Outcome, Long> counts = new EnumMap<>(Outcome.class);
        private final Map<Outcome, Long> recent = new EnumMap<>(Outcome.class);
        private final List<Long> decided = new ArrayList<>(Collections.nCopies(SECONDS, 0L));
        private final List<Long> rejected = new ArrayList<>(Collections.nCopies(SECONDS, 0L));

        /** Adds decisions of a second, which is a position from the oldest second. */
        void add(int second, Outcome outcome, long count) {
            if (count == 0) {
                return;
            }
            counts.merge(outcome, count, Long::sum);
            if (second >= SECONDS - RATE_SECONDS) {
                recent.merge(outcome, count, Long::sum);
            }
            decided.set(second, decided.get(second) + count);
            if (isRejection(outcome)) {
                rejected.set(second, rejected.get(second) + count);
            }
        }

        Rates rates(Optional<Utilization> utilization) {
            return new Rates(
                    Collections.unmodifiableMap(counts),
                    Collections.unmodifiableMap(recent),
                    List.copyOf(decided),
                    List.copyOf(rejected),
                    utilization);
        }
    }
}
