// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The results of a {@link Load}. */
record LoadReport(List<Load.Request> requests) {

    /** Returns the number of requests for a path with another status. */
    long othersThan(int path, int... statuses) {
        return requests.stream()
                .filter(request -> request.path() == path
                        && IntStream.of(statuses).noneMatch(status -> status == request.status()))
                .count();
    }

    /** Returns the greatest number of allowed requests of a client for a path within a period. */
    int maxAllowed(int path, Duration within) {
        return allowed(path).stream()
                .mapToInt(times -> max(times, within.toNanos()))
                .max()
                .orElse(0);
    }

    /** Returns the greatest number of allowed requests of a client for a path between two instants. */
    int maxAllowed(int path, long fromNanos, long toNanos) {
        return allowed(path).stream()
                .mapToInt(times -> (int) Arrays.stream(times)
                        .filter(time -> time - fromNanos >= 0 && time - toNanos < 0)
                        .count())
                .max()
                .orElse(0);
    }

    /** Returns the start of the allowed requests of each client, in order. */
    private Collection<long[]> allowed(int path) {
        return requests.stream()
                .filter(request -> request.path() == path && request.status() == 200)
                .collect(Collectors.groupingBy(
                        Load.Request::client,
                        Collectors.collectingAndThen(
                                Collectors.toList(),
                                all -> all.stream()
                                        .mapToLong(Load.Request::atNanos)
                                        .sorted()
                                        .toArray())))
                .values();
    }

    private static int max(long[] times, long within) {
        int max = 0;
        int first = 0;
        for (int last = 0; last < times.length; last++) {
            while (times[last] - times[first] >= within) {
                first++;
            }
            max = Math.max(max, last - first + 1);
        }
        return max;
    }

    String text(String what) {
        long[] nanos = requests.stream().mapToLong(Load.Request::nanos).sorted().toArray();
        long first = requests.stream().mapToLong(Load.Request::atNanos).min().orElseThrow();
        long last = requests.stream().mapToLong(Load.Request::atNanos).max().orElseThrow();
        Map<Integer, Map<Integer, Long>> statuses = requests.stream()
                .collect(Collectors.groupingBy(
                        Load.Request::path,
                        TreeMap::new,
                        Collectors.groupingBy(Load.Request::status, TreeMap::new, Collectors.counting())));
        return "%s: %d requests, %.0f per second, by path and status %s, p50 %.1f ms, p99 %.1f ms, p99.9 %.1f ms, longest %.1f ms"
                .formatted(
                        what,
                        nanos.length,
                        nanos.length * 1e9 / (last - first),
                        statuses,
                        millis(nanos, 0.5),
                        millis(nanos, 0.99),
                        millis(nanos, 0.999),
                        millis(nanos, 1));
    }

    private static double millis(long[] sorted, double part) {
        return sorted[(int) Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] / 1e6;
    }
}
