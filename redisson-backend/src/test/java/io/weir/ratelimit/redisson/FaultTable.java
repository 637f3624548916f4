// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.LoadedStore.Call;
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

/** What callers saw of each fault, as {@code target/failures.md}, which is written anew with each row. */
final class FaultTable {
    private static final Path FILE = Path.of("target", "failures.md");
    private static final String HEAD = """
            | Redis is | for | requests | decided | degraded, by reason | median, p99 and longest of a call meanwhile | permits admitted, spent | spent for calls that failed | decides again, and all calls, after |
            |---|---|---|---|---|---|---|---|---|
            """;

    private static final Map<Fault, String> ROWS = new EnumMap<>(Fault.class);

    private FaultTable() {}

    /**
     * Adds what the load saw.
     *
     * @param fault of what
     * @param beganNanos from when on, as {@link System#nanoTime}
     * @param endedNanos until when
     * @param spent permits of the loads' common key that Redis says are spent
     * @param loads all that spent them, ended
     */
    static synchronized void add(Fault fault, long beganNanos, long endedNanos, long spent, LoadedStore... loads) {
        List<Call> calls =
                Stream.of(loads).flatMap(load -> load.calls().stream()).toList();
        long[] meanwhile = calls.stream()
                .filter(call -> call.startNanos() >= beganNanos && call.startNanos() <= endedNanos)
                .mapToLong(Call::nanos)
                .sorted()
                .toArray();
        long decided = calls.stream().filter(Call::decided).count();
        long admitted = Stream.of(loads).mapToLong(LoadedStore::admitted).sum();
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
                                millis(percentile(meanwhile, 50)),
                                millis(percentile(meanwhile, 99)),
                                millis(percentile(meanwhile, 100)),
                                admitted,
                                spent,
                                spent < admitted
                                        ? "0, %,d forgotten".formatted(admitted - spent)
                                        : "%,d".formatted(spent - admitted),
                                millis(first),
                                millis(last)));
        write();
    }

    private static String reasons(LoadedStore... loads) {
        Map<Reason, Long> all = new TreeMap<>();
        for (LoadedStore load : loads) {
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
