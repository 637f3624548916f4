// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.benchmarks.report.Figure;
import io.weir.ratelimit.benchmarks.report.Report;
import io.weir.ratelimit.benchmarks.report.Table;
import io.weir.ratelimit.benchmarks.report.Trial;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * A program that measures a request on Open Liberty or on Quarkus, for a limited path and for one without a limit: the processor time of the
 * server and the latency. One client with one connection sends the requests in short turns, so that other load on the machine affects both paths alike.
 * Linux only.
 */
public final class RequestCost {
    private static final int WARM_UP = Trial.or(3, 1);
    private static final int ROUNDS = Trial.or(9, 1);

    /** A tick of the processor times in {@code /proc}. */
    private static final double TICK_MICROS = 10_000;

    private final Example example;
    private final String server;
    private final Path times;

    private RequestCost(Example example, ExampleServer process) {
        this.example = example;
        this.server = process.url();
        this.times = Path.of("/proc", String.valueOf(process.pid()), "stat");
    }

    /** Starts an example, and waits until it answers a path with 200. */
    private interface Start {
        ExampleServer start(String name, String path, Map<String, String> environment) throws IOException;
    }

    /**
     * An example with a limited path and with one beside it.
     *
     * @param host the host in the names of rows and figures, empty for Open Liberty
     * @param free the kind of the path without a limit
     * @param requests the requests of a turn
     */
    private record Example(String host, String limitedPath, String free, String freePath, int requests, Start start) {
        static final Example LIBERTY =
                new Example("", "/api/hello", "exempt", "/api/health", Trial.or(20_000, 300), ExampleServer::started);
        static final Example QUARKUS = new Example(
                " on Quarkus", "/hello", "unlimited", "/hello/free", Trial.or(8_000, 300), ExampleServer::onQuarkus);
    }

    /** The processor time of the server per request, and the latencies of the client, in microseconds. */
    private record Turn(double micros, double p50, double p99) {}

    /**
     * Starts the example in process and with Redis, and prints the costs.
     *
     * @param args {@code quarkus} for the example on Quarkus
     * @throws IOException if the server does not answer with 200
     */
    public static void main(String[] args) throws IOException {
        boolean quarkus = List.of(args).contains("quarkus");
        Optional<String> missing = quarkus ? ExampleServer.missingOnQuarkus() : ExampleServer.missing();
        if (missing.isPresent()) {
            System.err.println(missing.get());
            System.exit(Report.SKIPPED);
        }
        Example example = quarkus ? Example.QUARKUS : Example.LIBERTY;
        Table table = Table.of(
                "a request" + example.host, "processor of the server", "more than " + example.free, "p50", "p99");
        Map<String, String> environment =
                new HashMap<>(Map.of("RATELIMIT_POLICIES_HELLO_LIMIT", "1000000000/1h", "RATELIMIT_BACKEND", "local"));
        try (ExampleServer process = example.start.start("request-local", example.limitedPath, environment)) {
            new RequestCost(example, process).measure(table, "in process");
        }
        try (RedisProcess redis = RedisProcess.started()) {
            environment.put("RATELIMIT_BACKEND", "redisson");
            environment.put("RATELIMIT_REDIS_ADDRESS", redis.address());
            try (ExampleServer process = example.start.start("request-redis", example.limitedPath, environment)) {
                new RequestCost(example, process).measure(table, "on Redis");
            }
        }
        table.print();
    }

    private void measure(Table table, String backend) throws IOException {
        Turn[] limited = new Turn[ROUNDS];
        Turn[] free = new Turn[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            Turn first = turn(URI.create(server + example.limitedPath));
            Turn second = turn(URI.create(server + example.freePath));
            if (round >= 0) {
                limited[round] = first;
                free[round] = second;
            }
        }
        double[] more = new double[ROUNDS];
        Arrays.setAll(more, round -> limited[round].micros - free[round].micros);
        double[] ratios = new double[ROUNDS];
        Arrays.setAll(ratios, round -> limited[round].micros / free[round].micros);
        row(
                table,
                "limited " + backend,
                String.format(Locale.ROOT, "%.0f µs, × %.2f", median(more), median(ratios)),
                limited);
        row(table, example.free + ", beside it", "-", free);
        figures("limited " + backend, limited);
        figures(example.free + ", beside " + backend, free);
        new Figure("ratio: limited " + backend, median(ratios)).print();
    }

    private static void row(Table table, String name, String more, Turn... turns) {
        table.row(
                name,
                String.format(Locale.ROOT, "%.0f µs", median(turns, Turn::micros)),
                more,
                String.format(Locale.ROOT, "%.0f µs", median(turns, Turn::p50)),
                String.format(Locale.ROOT, "%.0f µs", median(turns, Turn::p99)));
    }

    private static void figures(String name, Turn... turns) {
        new Figure("server: " + name, median(turns, Turn::micros)).print();
        new Figure("median: " + name, median(turns, Turn::p50)).print();
    }

    private static double median(Turn[] turns, ToDoubleFunction<Turn> figure) {
        return median(Arrays.stream(turns).mapToDouble(figure).toArray());
    }

    private Turn turn(URI uri) throws IOException {
        long[] nanos = new long[example.requests];
        long before = ticks();
        for (int i = 0; i < nanos.length; i++) {
            long start = System.nanoTime();
            HttpURLConnection request = (HttpURLConnection) uri.toURL().openConnection();
            if (request.getResponseCode() != HttpURLConnection.HTTP_OK) {
                throw new IOException(uri + " answered " + request.getResponseCode());
            }
            try (InputStream body = request.getInputStream()) {
                body.readAllBytes();
            }
            nanos[i] = System.nanoTime() - start;
        }
        double micros = (ticks() - before) * TICK_MICROS / nanos.length;
        Arrays.sort(nanos);
        return new Turn(
                micros, DecisionTimes.percentile(nanos, 0.5) / 1e3, DecisionTimes.percentile(nanos, 0.99) / 1e3);
    }

    /** Returns the processor time of the server in user and kernel mode. The name of the process can contain spaces. */
    private long ticks() throws IOException {
        String text = Files.readString(times);
        String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ", -1);
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
