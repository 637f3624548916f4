// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * What one contender showed in one scenario.
 *
 * @param name the contender's name
 * @param rounds its turn in each round
 * @param floors the floor's turn in the same rounds
 */
record Result(String name, List<Measurement> rounds, List<Measurement> floors) {
    Spread decisions() {
        return ratio(Measurement::perSecond, floors);
    }

    Spread cpu() {
        return ratio(Measurement::cpuMicros, floors);
    }

    Spread bytes() {
        return Spread.of(rounds.stream().mapToDouble(Measurement::bytes));
    }

    Spread cpuMicros() {
        return Spread.of(rounds.stream().mapToDouble(Measurement::cpuMicros));
    }

    Spread perSecond() {
        return Spread.of(rounds.stream().mapToDouble(Measurement::perSecond));
    }

    /** Decisions per second beside those of another contender in the same rounds. */
    Spread decisionsBeside(Result other) {
        return ratio(Measurement::perSecond, other.rounds);
    }

    /** The latency that a part of all calls did not exceed, in microseconds. */
    double latencyMicros(double part) {
        Latencies all = new Latencies();
        rounds.forEach(round -> round.latencies().addTo(all));
        return all.percentile(part) / 1e3;
    }

    private Spread ratio(ToDoubleFunction<Measurement> figure, List<Measurement> others) {
        return Spread.of(IntStream.range(0, rounds.size())
                .mapToDouble(i -> figure.applyAsDouble(rounds.get(i)) / figure.applyAsDouble(others.get(i))));
    }
}
