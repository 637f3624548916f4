// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Rounds in which each contender has a turn. The order of the contenders rotates by one in each round. */
final class Rounds {
    private final RedisUnderTest redis;
    private final LoadPattern pattern;
    private final Options options;

    Rounds(RedisUnderTest redis, LoadPattern pattern, Options options) {
        this.redis = redis;
        this.pattern = pattern;
        this.options = options;
    }

    /** Returns the results in the order of the contenders. */
    List<Result> run(Contenders contenders) {
        List<Series> series = contenders.all().stream().map(Series::new).toList();
        List<Series> order = new ArrayList<>(series);
        for (int round = -options.warmUps(); round < options.rounds(); round++) {
            for (Series one : order) {
                Measurement measurement = turn(one.contender);
                if (round >= 0) {
                    one.measured.add(measurement);
                }
            }
            Collections.rotate(order, 1);
        }
        return series.stream()
                .map(one -> new Result(
                        one.contender.limiter().name(),
                        one.contender.limiter().holdsPermits(),
                        one.measured,
                        series.get(0).measured))
                .toList();
    }

    private record Series(MeasuredContender contender, List<Measurement> measured) {
        Series(MeasuredContender contender) {
            this(contender, new ArrayList<>());
        }
    }

    private Measurement turn(MeasuredContender contender) {
        run(contender, options.seconds() / 3);
        contender.resetLatencies();
        RedisUsage before = redis.usage();
        double cpuBefore = ClientCpu.micros();
        long completed = contender.completed();
        long failed = contender.failed();
        double seconds = run(contender, options.seconds());
        double clientCpu = ClientCpu.micros() - cpuBefore;
        return new Measurement(
                contender.completed() - completed,
                contender.failed() - failed,
                seconds,
                redis.usage().minus(before),
                clientCpu,
                contender.latencies());
    }

    private double run(MeasuredContender contender, double seconds) {
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        pattern.run(contender, () -> System.nanoTime() < end);
        return (System.nanoTime() - start) / 1e9;
    }
}
