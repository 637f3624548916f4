// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import io.weir.ratelimit.core.metrics.Outcome;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.DoubleAccumulator;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/** A ring of counters per second, in fixed memory. A decision at the end of its second can be missing or counted in the next second. */
final class RateRing {
    private static final int SIZE = 64;

    private final SecondCounter[] counters =
            Stream.generate(SecondCounter::new).limit(SIZE).toArray(SecondCounter[]::new);

    /** Counts a decision in a second of a monotonic clock. */
    void count(long second, Outcome outcome) {
        SecondCounter counter = counter(second);
        if (counter.isFor(second)) {
            counter.count(outcome);
        }
    }

    /** Counts a decision with its utilization: the spent part of the fullest limit, from 0 to 1. */
    void count(long second, Outcome outcome, double utilization) {
        SecondCounter counter = counter(second);
        if (counter.isFor(second)) {
            counter.count(outcome);
            counter.measured.increment();
            counter.utilizations.add(utilization);
            counter.max.accumulate(utilization);
        }
    }

    private SecondCounter counter(long second) {
        return counters[(int) Math.floorMod(second, (long) SIZE)];
    }

    /** Returns the decisions in the minute before a second. */
    Rates minuteBefore(long end) {
        Rates.Sum sum = new Rates.Sum();
        double utilizations = 0;
        double max = 0;
        long measured = 0;
        for (int i = 0; i < Rates.SECONDS; i++) {
            long second = end - Rates.SECONDS + i;
            SecondCounter counter = counter(second);
            if (counter.second == second) {
                for (Map.Entry<Outcome, LongAdder> count : counter.counts.entrySet()) {
                    sum.add(i, count.getKey(), count.getValue().sum());
                }
                utilizations += counter.utilizations.sum();
                measured += counter.measured.sum();
                max = Math.max(max, counter.max.get());
            }
        }
        return sum.rates(
                measured == 0 ? Optional.empty() : Optional.of(new Rates.Utilization(utilizations / measured, max)));
    }

    /** The counts of one second. */
    private static final class SecondCounter {
        private volatile long second = Long.MIN_VALUE;
        private final Map<Outcome, LongAdder> counts = new EnumMap<>(Outcome.class);
        private final LongAdder measured = new LongAdder();
        private final DoubleAdder utilizations = new DoubleAdder();
        private final DoubleAccumulator max = new DoubleAccumulator(Math::max, 0);

        private SecondCounter() {
            for (Outcome outcome : Outcome.values()) {
                counts.put(outcome, new LongAdder());
            }
        }

        private void count(Outcome outcome) {
            Objects.requireNonNull(counts.get(outcome)).increment();
        }

        /** Returns whether this counter is for a second, and resets it if that second is later. */
        private boolean isFor(long wanted) {
            return second == wanted || resetFor(wanted);
        }

        private synchronized boolean resetFor(long wanted) {
            if (second < wanted) {
                counts.values().forEach(LongAdder::reset);
                measured.reset();
                utilizations.reset();
                max.reset();
                second = wanted;
            }
            return second == wanted;
        }
    }
}
