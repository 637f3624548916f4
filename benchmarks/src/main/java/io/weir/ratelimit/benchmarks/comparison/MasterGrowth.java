// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.redisson.Redisson;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/** The load of each node of a cluster by the number of masters. */
public final class MasterGrowth {
    private static final String SIZES = "1, 2, 3 masters";
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private static final Pattern CALLS = Pattern.compile("cmdstat_(\\w+)[^:]*:calls=(\\d+)");

    private MasterGrowth() {}

    /**
     * The load of the busiest node per decision.
     *
     * @param scripts its script calls
     * @param commands its commands, including those of scripts
     */
    private record Load(double scripts, double commands) {}

    /** Measures each cluster and returns the rows. */
    public static List<GrowthRow> measure(GrowthOptions options) {
        List<Load> threads = new ArrayList<>();
        List<Load> inFlight = new ArrayList<>();
        for (int masters = 1; masters <= 3; masters++) {
            try (ClusterFixture cluster = ClusterFixture.ofMasters(masters)) {
                measure(cluster, options, threads, inFlight);
            }
        }
        List<GrowthRow> rows = new ArrayList<>();
        rows.addAll(rows("16 threads", threads));
        rows.addAll(rows("256 in flight", inFlight));
        return rows;
    }

    private static List<GrowthRow> rows(String load, List<Load> loads) {
        return List.of(
                new GrowthRow(
                        SIZES,
                        "script calls of the busiest master per decision, " + load,
                        loads.stream().map(Load::scripts).toList()),
                new GrowthRow(
                        SIZES,
                        "commands of the busiest master per decision, with those of scripts, " + load,
                        loads.stream().map(Load::commands).toList()));
    }

    private static void measure(
            ClusterFixture cluster, GrowthOptions options, List<Load> threads, List<Load> inFlight) {
        Config config = new Config().setCodec(ByteArrayCodec.INSTANCE);
        config.useClusterServers()
                .addNodeAddress(
                        cluster.masters().stream().map(RedisProcess::address).toArray(String[]::new));
        Redisson client = (Redisson) Redisson.create(config);
        List<RedisConnection> masters =
                cluster.masters().stream().map(RedisProcess::connect).toList();
        try (Contender weir = Weir.of(client, "default", Workload.MANY_KEYS, Algorithm.SLIDING_WINDOW, DEADLINE)) {
            MeasuredContender contender = new MeasuredContender(weir, Workload.MANY_KEYS, DEADLINE);
            threads.add(load(masters, contender, new LoadPattern.Threads(16), options));
            inFlight.add(load(masters, contender, new LoadPattern.Asynchronous(256), options));
        } finally {
            masters.forEach(RedisConnection::close);
            client.shutdown();
        }
    }

    private static Load load(
            List<RedisConnection> masters, MeasuredContender contender, LoadPattern pattern, GrowthOptions options) {
        // The first calls of all keys are not measured: they load the scripts.
        long keys = contender.started() + Workload.MANY_KEYS.keys();
        pattern.run(contender, () -> contender.started() < keys);
        masters.forEach(master -> master.call("CONFIG", "RESETSTAT"));
        long completed = contender.completed();
        long end = System.nanoTime() + (long) (4e9 * options.seconds());
        pattern.run(contender, () -> System.nanoTime() < end);
        double decisions = contender.completed() - completed;
        if (contender.failed() > 0) {
            throw new IllegalStateException("a call failed: " + contender.firstFailure());
        }
        return new Load(
                busiest(masters, master -> master.calls("evalsha")) / decisions,
                busiest(masters, MasterGrowth::calls) / decisions);
    }

    private static double busiest(List<RedisConnection> masters, ToLongFunction<RedisConnection> calls) {
        return masters.stream().mapToLong(calls).max().orElseThrow();
    }

    private static long calls(RedisConnection node) {
        return CALLS.matcher(node.text("INFO", "commandstats"))
                .results()
                .mapToLong((MatchResult command) -> Long.parseLong(command.group(2)))
                .sum();
    }
}
