// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.stream.Collectors.joining;

import io.weir.ratelimit.spi.FleetStore;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

/**
 * The reports of instances in Redis. All keys of a namespace are in one slot.
 */
final class RedisFleetStore implements FleetStore {
    /** The keys of one call that reads reports: at most 1 MiB. */
    private static final int REPORTS_PER_CALL = 16;

    /** The keys of one call that reads steps: at most 480 KiB, and usually a few KiB. */
    private static final int STEPS_PER_CALL = 30;

    /** A line of the list of instances has at most 49 bytes. */
    private static final int MAX_LIST_BYTES = 49 * MAX_INSTANCES;

    private static final Pattern LISTED = Pattern.compile("([a-z0-9]{1,32}) ([0-9]{1,15})\n");

    private final FleetCalls calls;
    private final String prefix;

    /**
     * Creates a store.
     *
     * @param calls the calls of Redis
     * @param namespace the namespace of the instances
     */
    RedisFleetStore(FleetCalls calls, String namespace) {
        this.calls = calls;
        this.prefix = "weir:1:fleet:{" + namespace + "}:";
    }

    private String list() {
        return prefix + "instances";
    }

    private String report(String instance) {
        return prefix + "report:" + instance;
    }

    private String step(long number) {
        return prefix + "history:" + number;
    }

    @Override
    public CompletionStage<Instant> report(String instance, byte[] report, Map<Long, byte[]> counts) {
        if (!instance.matches("[a-z0-9]{1,32}") || report.length > MAX_REPORT_BYTES || counts.size() > 8) {
            throw new IllegalArgumentException("the report has another form or is too large");
        }
        Map<Long, byte[]> sorted = new TreeMap<>(counts);
        List<Object> keys = new ArrayList<>(List.of(list(), report(instance)));
        sorted.keySet().forEach(number -> keys.add(step(number)));
        LongStream numbers = LongStream.concat(
                LongStream.of(
                        REPORT_LIFETIME.toMillis(),
                        HISTORY_LIFETIME.toMillis(),
                        MAX_INSTANCES,
                        MAX_LIST_BYTES,
                        MAX_STEP_BYTES,
                        report.length),
                sorted.values().stream().mapToLong(added -> added.length));
        ByteArrayOutputStream argument = new ByteArrayOutputStream();
        String header = numbers.mapToObj(number -> " " + number).collect(joining("", instance, "\n"));
        argument.writeBytes(header.getBytes(US_ASCII));
        argument.writeBytes(report);
        sorted.values().forEach(argument::writeBytes);
        return calls.run(Script.REPORT, keys, argument.toByteArray())
                .thenApply(reply -> Instant.ofEpochMilli(Long.parseLong(new String(reply, US_ASCII).split(" ", 2)[0])));
    }

    @Override
    public CompletionStage<List<StoredReport>> reports() {
        return calls.values(List.of(list()), 1, MAX_LIST_BYTES).thenCompose(this::reports);
    }

    private CompletableFuture<List<StoredReport>> reports(FleetValues list) {
        List<String> instances = new ArrayList<>();
        List<Duration> ages = new ArrayList<>();
        Optional<byte[]> known = list.values().get(0);
        // The list itself is foreign: no report can be found.
        if (known.isEmpty() && list.isForeign(0)) {
            return CompletableFuture.completedFuture(
                    List.of(new StoredReport("list", Duration.ZERO, Optional.empty())));
        }
        Matcher line = LISTED.matcher(new String(known.orElse(new byte[0]), US_ASCII));
        while (instances.size() < MAX_INSTANCES && line.find()) {
            long age = list.millis() - Long.parseLong(line.group(2));
            if (!instances.contains(line.group(1)) && age < REPORT_LIFETIME.toMillis()) {
                instances.add(line.group(1));
                ages.add(Duration.ofMillis(Math.max(0, age)));
            }
        }
        List<String> keys = instances.stream().map(this::report).toList();
        return calls.values(keys, REPORTS_PER_CALL, MAX_REPORT_BYTES).thenApply(found -> {
            List<StoredReport> reports = new ArrayList<>();
            for (int i = 0; i < keys.size(); i++) {
                // A report without a value has expired since the list was read.
                if (found.values().get(i).isPresent() || found.isForeign(i)) {
                    reports.add(new StoredReport(
                            instances.get(i), ages.get(i), found.values().get(i)));
                }
            }
            return reports;
        });
    }

    @Override
    public CompletionStage<List<byte[]>> history(List<Long> steps) {
        return calls.values(steps.stream().map(this::step).toList(), STEPS_PER_CALL, MAX_STEP_BYTES)
                .thenApply(found -> found.values().stream()
                        .map(value -> value.orElseGet(() -> new byte[0]))
                        .toList());
    }
}
