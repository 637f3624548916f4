// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.interceptor.observe.Outcome;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.DoubleAccumulator;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * Counts decisions by second, in fixed memory. A decision that is counted while its second ends can be missing or in the next one.
 */
final class RateRing {
    private static final int SLOTS = 64;

    private final Slot[] slots = Stream.generate(Slot::new).limit(SLOTS).toArray(Slot[]::new);

    /** A decision in a second of a monotonic clock. */
    void count(long second, Outcome outcome) {
        Slot slot = slot(second);
        if (slot.isOf(second)) {
            slot.count(outcome);
        }
    }

    /** A decision that told how much of its capacity the fullest limit has given away, from 0 to 1. */
    void count(long second, Outcome outcome, double utilization) {
        Slot slot = slot(second);
        if (slot.isOf(second)) {
            slot.count(outcome);
            slot.measured.increment();
            slot.utilizations.add(utilization);
            slot.highest.accumulate(utilization);
        }
    }

    private Slot slot(long second) {
        return slots[(int) Math.floorMod(second, (long) SLOTS)];
    }

    /** What was counted in the seconds before this one. */
    Rates before(long second) {
        Rates.Tally tally = new Rates.Tally();
        double utilizations = 0;
        double highest = 0;
        long measured = 0;
        for (int i = 0; i < Rates.SECONDS; i++) {
            long wanted = second - Rates.SECONDS + i;
            Slot slot = slot(wanted);
            if (slot.second == wanted) {
                for (Map.Entry<Outcome, LongAdder> count : slot.counts.entrySet()) {
                    tally.add(i, count.getKey(), count.getValue().sum());
                }
                utilizations += slot.utilizations.sum();
                measured += slot.measured.sum();
                highest = Math.max(highest, slot.highest.get());
            }
        }
        return tally.rates(
                measured == 0
                        ? Optional.empty()
                        : Optional.of(new Rates.Utilization(utilizations / measured, highest)));
    }

    /** The counts of one second. */
    private static final class Slot {
        private volatile long second = Long.MIN_VALUE;
        private final Map<Outcome, LongAdder> counts = new EnumMap<>(Outcome.class);
        private final LongAdder measured = new LongAdder();
        private final DoubleAdder utilizations = new DoubleAdder();
        private final DoubleAccumulator highest = new DoubleAccumulator(Math::max, 0);

        private Slot() {
            for (Outcome outcome : Outcome.values()) {
                counts.put(outcome, new LongAdder());
            }
        }

        private void count(Outcome outcome) {
            Objects.requireNonNull(counts.get(outcome)).increment();
        }

        /** Whether it counts this second, which it begins if that is later than its own. */
        private boolean isOf(long wanted) {
            return second == wanted || begins(wanted);
        }

        private synchronized boolean begins(long wanted) {
            if (second < wanted) {
                counts.values().forEach(LongAdder::reset);
                measured.reset();
                utilizations.reset();
                highest.reset();
                second = wanted;
            }
            return second == wanted;
        }
    }
}
