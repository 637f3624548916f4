// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.LoadedBackend.Call;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The effects of each fault on callers, as {@code target/failures.md}, which is rewritten with each row. */
final class FaultTable {
    private static final Path FILE = Path.of("target", "failures.md");
    private static final String HEAD = """
            | Redis is | duration | requests | decided | degraded, by reason | median, p99 and longest call during the fault | permits allowed, spent | spent for failed calls | recovery: first decision, all calls |
            |---|---|---|---|---|---|---|---|---|
            """;

    private static final Map<Fault, String> ROWS = new EnumMap<>(Fault.class);

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
        ROWS.put(
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
        write();
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

    private static void write() {
        try {
            Files.createDirectories(FILE.getParent());
            Files.writeString(FILE, HEAD + String.join("", ROWS.values()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
