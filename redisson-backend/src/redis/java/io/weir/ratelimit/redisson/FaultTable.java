// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.LoadedBackend.Call;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The effects of each fault on callers, as {@code target/failures.md}. Each row has a file of its own, and each new row rewrites the
 * table with the rows of all test JVMs.
 */
final class FaultTable {
    private static final Path FILE = Path.of("target", "failures.md");
    private static final String HEAD = """
            | Redis is | duration | requests | decided | degraded, by reason | median, p99 and longest call during the fault | permits allowed, spent | spent for failed calls | recovery: first decision, all calls |
            |---|---|---|---|---|---|---|---|---|
            """;

    private static final Path ROWS = Path.of("target", "failures");

    private FaultTable() {}

    /**
     * Adds the row of a fault.
     *
     * @param fault the fault
     * @param beganNanos when it began, as {@link System#nanoTime}
     * @param endedNanos when it ended, as {@link System#nanoTime}
     * @param spent the permits of the common key that Redis has charged
     * @param loads all loads that spent them, which have ended
     */
    static synchronized void add(Fault fault, long beganNanos, long endedNanos, long spent, LoadedBackend... loads) {
        List<Call> calls =
                Stream.of(loads).flatMap(load -> load.calls().stream()).toList();
        long[] durations = calls.stream()
                .filter(call -> call.startNanos() >= beganNanos && call.startNanos() <= endedNanos)
                .mapToLong(Call::nanos)
                .sorted()
                .toArray();
        long decided = calls.stream().filter(Call::decided).count();
        long allowed = Stream.of(loads).mapToLong(LoadedBackend::allowed).sum();
        long first = calls.stream()
                .filter(call -> call.decided() && call.endNanos() >= endedNanos)
                .mapToLong(call -> call.endNanos() - endedNanos)
                .min()
                .orElseThrow();
        long last = calls.stream()
                .filter(call -> !call.decided() && call.endNanos() >= endedNanos)
                .mapToLong(call -> call.endNanos() - endedNanos)
                .max()
                .orElse(0);
        write(
                fault,
                "| %s | %.1f s | %,d | %,d | %s | %s, %s, %s ms | %,d, %,d | %s | %s, %s ms |%n"
                        .formatted(
                                fault.words,
                                Duration.ofNanos(endedNanos - beganNanos).toMillis() / 1_000.0,
                                calls.size(),
                                decided,
                                reasons(loads),
                                millis(percentile(durations, 50)),
                                millis(percentile(durations, 99)),
                                millis(percentile(durations, 100)),
                                allowed,
                                spent,
                                spent < allowed
                                        ? "0, %,d lost".formatted(allowed - spent)
                                        : "%,d".formatted(spent - allowed),
                                millis(first),
                                millis(last)));
    }

    private static String reasons(LoadedBackend... loads) {
        Map<Reason, Long> all = new TreeMap<>();
        for (LoadedBackend load : loads) {
            load.failuresByReason().forEach((reason, count) -> all.merge(reason, count, Long::sum));
        }
        return all.isEmpty()
                ? "0"
                : all.entrySet().stream()
                        .map(entry -> "%,d `%s`"
                                .formatted(entry.getValue(), entry.getKey().tag()))
                        .collect(Collectors.joining(", "));
    }

    static long percentile(long[] sorted, int percent) {
        return sorted.length == 0 ? 0 : sorted[(int) Math.ceil(sorted.length * percent / 100.0) - 1];
    }

    static String millis(long nanos) {
        return String.format(Locale.ROOT, nanos < 10_000_000 ? "%.1f" : "%.0f", nanos / 1e6);
    }

    private static void write(Fault fault, String row) {
        try {
            Files.createDirectories(ROWS);
            Path lock = ROWS.resolve("lock");
            try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                channel.lock();
                Files.writeString(ROWS.resolve(fault.name()), row);
                Files.writeString(FILE, HEAD + rows());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String rows() throws IOException {
        StringBuilder all = new StringBuilder();
        for (Fault fault : Fault.values()) {
            Path row = ROWS.resolve(fault.name());
            if (Files.exists(row)) {
                all.append(Files.readString(row));
            }
        }
        return all.toString();
    }
}
