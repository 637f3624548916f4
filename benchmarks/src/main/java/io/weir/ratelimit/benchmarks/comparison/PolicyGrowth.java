// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.redisson.Redisson;

/** The cost of a decision on Redis by the number of policies of a request, and by the number of limits of its policy. */
public final class PolicyGrowth {
    private static final List<Integer> POLICIES = List.of(1, 10, 50);
    private static final List<Integer> LIMITS = List.of(1, 3, 8);
    private static final int CALLERS = 1_000;

    private PolicyGrowth() {}

    /** Measures both and returns the rows. */
    public static List<GrowthRow> measure(GrowthOptions options) {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect()) {
            Redisson client = GrowthSeries.client(process);
            try {
                List<GrowthRow> rows = new ArrayList<>();
                rows.addAll(measure(
                        "1, 10, 50 policies on one request, Redis",
                        series(redis, client, POLICIES, PolicyGrowth::policies),
                        options));
                rows.addAll(measure(
                        "1, 3, 8 limits of one policy, Redis",
                        series(redis, client, LIMITS, count -> List.of(limits("limits-" + count, count))),
                        options));
                return rows;
            } finally {
                client.shutdown();
            }
        }
    }

    private static List<GrowthSeries> series(
            RedisConnection redis, Redisson client, List<Integer> sizes, IntFunction<List<PolicyLimits>> policies) {
        return sizes.stream()
                .map(size -> {
                    List<PolicyLimits> all = policies.apply(size);
                    return new GrowthSeries(
                            redis,
                            client,
                            CALLERS,
                            caller -> all.stream()
                                    .map(policy -> new Charge(policy, GrowthSeries.storedKey(caller), 1))
                                    .toList());
                })
                .toList();
    }

    private static List<PolicyLimits> policies(int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> limits("policy-" + number, 1))
                .toList();
    }

    private static PolicyLimits limits(String policy, int count) {
        return new PolicyLimits(
                policy,
                IntStream.rangeClosed(1, count)
                        .mapToObj(hours ->
                                Limit.of(Algorithm.SLIDING_WINDOW, Workload.UNREACHABLE, Duration.ofHours(hours)))
                        .toList());
    }

    private static List<GrowthRow> measure(String sizes, List<GrowthSeries> series, GrowthOptions options) {
        List<GrowthRow> rows = new ArrayList<>();
        GrowthSeries.run(series, new LoadPattern.Threads(1), options);
        rows.add(GrowthSeries.row(
                sizes,
                "processor of Redis per decision, one at a time, µs",
                series,
                turn -> turn.weir().cpuMicros()));
        rows.add(GrowthSeries.row(
                sizes,
                "time of a decision, one at a time, µs",
                series,
                turn -> 1e6 / turn.weir().perSecond()));
        GrowthSeries.run(series, new LoadPattern.Threads(16), options);
        rows.add(GrowthSeries.row(
                sizes,
                "processor of Redis per decision, 16 threads, µs",
                series,
                turn -> turn.weir().cpuMicros()));
        series.forEach(GrowthSeries::close);
        return rows;
    }
}
