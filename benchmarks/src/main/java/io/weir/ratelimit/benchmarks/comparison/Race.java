// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Rounds in which each contender has its turn, in an order that moves on by one from round to round. */
final class Race {
    private final Store store;
    private final Drive drive;
    private final Options options;

    Race(Store store, Drive drive, Options options) {
        this.store = store;
        this.drive = drive;
        this.options = options;
    }

    /** The results in the order of the entrants. */
    List<Result> run(Entrants entrants) {
        List<Lane> lanes = entrants.all().stream().map(Lane::new).toList();
        List<Lane> order = new ArrayList<>(lanes);
        for (int round = -options.warmUps(); round < options.rounds(); round++) {
            for (Lane lane : order) {
                Measurement measurement = turn(lane.entrant);
                if (round >= 0) {
                    lane.measured.add(measurement);
                }
            }
            Collections.rotate(order, 1);
        }
        return lanes.stream()
                .map(lane -> new Result(lane.entrant.contender().name(), lane.measured, lanes.get(0).measured))
                .toList();
    }

    private record Lane(Entrant entrant, List<Measurement> measured) {
        Lane(Entrant entrant) {
            this(entrant, new ArrayList<>());
        }
    }

    private Measurement turn(Entrant entrant) {
        run(entrant, options.seconds() / 3);
        entrant.forgetLatencies();
        RedisSpending before = store.spending();
        long answered = entrant.answered();
        double seconds = run(entrant, options.seconds());
        return new Measurement(
                entrant.answered() - answered, seconds, store.spending().minus(before), entrant.latencies());
    }

    private double run(Entrant entrant, double seconds) {
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        drive.run(entrant, () -> System.nanoTime() < end);
        return (System.nanoTime() - start) / 1e9;
    }
}
