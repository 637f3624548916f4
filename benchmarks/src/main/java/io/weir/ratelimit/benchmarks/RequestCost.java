// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * A program that measures the processor time of a server per request, for a limited path and for an exempt one. One client with one
 * connection sends the requests in short turns, so that other load on the machine affects both paths alike. Linux only.
 */
public final class RequestCost {
    private static final int WARM_UP = 3;
    private static final int ROUNDS = 9;
    private static final int REQUESTS = 20_000;
    private static final String[] PATHS = {"/api/hello", "/api/health"};

    /** A tick of the processor times in {@code /proc}. */
    private static final double TICK_MICROS = 10_000;

    private final String server;
    private final Path times;

    private RequestCost(String server, String pid) {
        this.server = server;
        this.times = Path.of("/proc", pid, "stat");
    }

    /**
     * Prints the processor time of a request.
     *
     * @param args the URL of the example without a path, the number of its process, and optionally the two paths
     * @throws IOException if the server does not answer with 200, or if its process does not exist
     */
    public static void main(String[] args) throws IOException {
        new RequestCost(args[0], args[1]).measure(args.length > 2 ? Arrays.copyOfRange(args, 2, args.length) : PATHS);
    }

    private void measure(String... paths) throws IOException {
        double[][] micros = new double[paths.length][ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            for (int i = 0; i < paths.length; i++) {
                double turn = turn(URI.create(server + paths[i]));
                if (round >= 0) {
                    micros[i][round] = turn;
                }
            }
        }
        for (int i = 0; i < paths.length; i++) {
            int path = i;
            double[] more = new double[ROUNDS];
            Arrays.setAll(more, round -> micros[path][round] - micros[paths.length - 1][round]);
            System.out.printf(
                    Locale.ROOT,
                    "%s: %.1f µs of the server per request, %.1f µs more than %s (medians of %d turns)%n",
                    paths[i],
                    median(micros[i]),
                    median(more),
                    paths[paths.length - 1],
                    ROUNDS);
        }
    }

    private double turn(URI uri) throws IOException {
        long before = ticks();
        for (int i = 0; i < REQUESTS; i++) {
            HttpURLConnection request = (HttpURLConnection) uri.toURL().openConnection();
            if (request.getResponseCode() != HttpURLConnection.HTTP_OK) {
                throw new IOException(uri + " answered " + request.getResponseCode());
            }
            try (InputStream body = request.getInputStream()) {
                body.readAllBytes();
            }
        }
        return (ticks() - before) * TICK_MICROS / REQUESTS;
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
