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

/** What came of the requests of a {@link Load}. */
record LoadReport(List<Load.Request> requests) {

    /** How many of the requests for a path were answered with anything but these. */
    long othersThan(int path, int... statuses) {
        return requests.stream()
                .filter(request -> request.path() == path
                        && IntStream.of(statuses).noneMatch(status -> status == request.status()))
                .count();
    }

    /** The most requests that any client had let in on a path within any time of that length. */
    int mostAdmitted(int path, Duration within) {
        return admitted(path).stream()
                .mapToInt(times -> most(times, within.toNanos()))
                .max()
                .orElse(0);
    }

    /** The most requests that any client had let in on a path, of those sent between two instants. */
    int mostAdmitted(int path, long fromNanos, long toNanos) {
        return admitted(path).stream()
                .mapToInt(times -> (int) Arrays.stream(times)
                        .filter(time -> time - fromNanos >= 0 && time - toNanos < 0)
                        .count())
                .max()
                .orElse(0);
    }

    /** When each client's admitted requests were sent, in order. */
    private Collection<long[]> admitted(int path) {
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

    private static int most(long[] times, long within) {
        int most = 0;
        int first = 0;
        for (int last = 0; last < times.length; last++) {
            while (times[last] - times[first] >= within) {
                first++;
            }
            most = Math.max(most, last - first + 1);
        }
        return most;
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
