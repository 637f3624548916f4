// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.interceptor.observe.Outcome;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The decisions of a minute.
 *
 * @param counts in all of it, without outcomes that did not come
 * @param lately in its last {@link #RATE_SECONDS} seconds
 * @param decided decisions in each second, the oldest first
 * @param refused refusals in each second
 * @param utilization how much limits had given away, empty if no decision told
 */
record Rates(
        Map<Outcome, Long> counts,
        Map<Outcome, Long> lately,
        List<Long> decided,
        List<Long> refused,
        Optional<Utilization> utilization) {
    /** The seconds that are told of, without the one that has not ended. */
    static final int SECONDS = 60;

    /** The seconds over which a rate is taken. */
    static final int RATE_SECONDS = 10;

    static final Rates NONE = new Tally().rates(Optional.empty());

    /**
     * How much of their capacity the fullest limits had given away, from 0 to 1.
     *
     * @param mean over the decisions
     * @param highest the highest of them
     */
    record Utilization(double mean, double highest) {}

    /** The sum of several. Utilisation of several policies together says nothing. */
    static Rates sum(Collection<Rates> all) {
        Tally tally = new Tally();
        all.forEach(tally::add);
        return tally.rates(Optional.empty());
    }

    /** The part of the decisions that was refused by these policies; empty if there were none. */
    Optional<Double> refusalRate() {
        long all = 0;
        long refusals = 0;
        for (Map.Entry<Outcome, Long> entry : counts.entrySet()) {
            all += entry.getKey() == Outcome.BYPASSED ? 0 : entry.getValue();
            refusals += isRefusal(entry.getKey()) ? entry.getValue() : 0;
        }
        return all == 0 ? Optional.empty() : Optional.of((double) refusals / all);
    }

    private static boolean isRefusal(Outcome outcome) {
        return outcome == Outcome.REJECTED || outcome == Outcome.DEGRADED_REJECTED;
    }

    /** Adds up. */
    static final class Tally {
        private final Map<Outcome, Long> counts = new EnumMap<>(Outcome.class);
        private final Map<Outcome, Long> lately = new EnumMap<>(Outcome.class);
        private final List<Long> decided = new ArrayList<>(Collections.nCopies(SECONDS, 0L));
        private final List<Long> refused = new ArrayList<>(Collections.nCopies(SECONDS, 0L));

        /** Decisions of a second, by its position from the oldest. */
        void add(int second, Outcome outcome, long count) {
            if (count == 0) {
                return;
            }
            counts.merge(outcome, count, Long::sum);
            if (second >= SECONDS - RATE_SECONDS) {
                lately.merge(outcome, count, Long::sum);
            }
            decided.set(second, decided.get(second) + count);
            if (isRefusal(outcome)) {
                refused.set(second, refused.get(second) + count);
            }
        }

        private void add(Rates rates) {
            rates.counts.forEach((outcome, count) -> counts.merge(outcome, count, Long::sum));
            rates.lately.forEach((outcome, count) -> lately.merge(outcome, count, Long::sum));
            for (int i = 0; i < SECONDS; i++) {
                decided.set(i, decided.get(i) + rates.decided.get(i));
                refused.set(i, refused.get(i) + rates.refused.get(i));
            }
        }

        Rates rates(Optional<Utilization> utilization) {
            return new Rates(
                    Collections.unmodifiableMap(counts),
                    Collections.unmodifiableMap(lately),
                    List.copyOf(decided),
                    List.copyOf(refused),
                    utilization);
        }
    }
}
