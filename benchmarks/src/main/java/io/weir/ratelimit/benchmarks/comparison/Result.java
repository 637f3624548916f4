// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The result of a contender in a scenario.
 *
 * @param name the name of the contender
 * @param holdsPermits whether the contender holds permits in memory
 * @param rounds the measurements of the rounds
 * @param floors the measurements of the floor in the same rounds
 */
record Result(String name, boolean holdsPermits, List<Measurement> rounds, List<Measurement> floors) {
    Quartiles decisions() {
        return ratio(Measurement::perSecond, floors);
    }

    Quartiles cpu() {
        return ratio(Measurement::cpuMicros, floors);
    }

    Quartiles clientCpu() {
        return ratio(Measurement::clientCpuMicros, floors);
    }

    Quartiles clientCpuMicros() {
        return Quartiles.of(rounds.stream().mapToDouble(Measurement::clientCpuMicros));
    }

    /** Returns the number of failed calls in all rounds. */
    long failed() {
        return rounds.stream().mapToLong(Measurement::failed).sum();
    }

    Quartiles bytes() {
        return Quartiles.of(rounds.stream().mapToDouble(Measurement::bytes));
    }

    Quartiles cpuMicros() {
        return Quartiles.of(rounds.stream().mapToDouble(Measurement::cpuMicros));
    }

    Quartiles perSecond() {
        return Quartiles.of(rounds.stream().mapToDouble(Measurement::perSecond));
    }

    /** Returns the decisions per second relative to another contender in the same rounds. */
    Quartiles decisionsComparedWith(Result other) {
        return ratio(Measurement::perSecond, other.rounds);
    }

    /** Returns a percentile of the latency in microseconds. */
    double latencyMicros(double part) {
        Latencies all = new Latencies();
        rounds.forEach(round -> round.latencies().addTo(all));
        return all.percentile(part) / 1e3;
    }

    private Quartiles ratio(ToDoubleFunction<Measurement> figure, List<Measurement> others) {
        return Quartiles.of(IntStream.range(0, rounds.size())
                .mapToDouble(i -> figure.applyAsDouble(rounds.get(i)) / figure.applyAsDouble(others.get(i))));
    }
}
