// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.stream.Collectors.joining;

import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.redisson.script.Script;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

    /** The bytes of the reports after which no further call reads any: 256 of the longest reports. */
    private static final long ENOUGH_BYTES = 256L * MAX_REPORT_BYTES;

    private static final Pattern LISTED = Pattern.compile("([a-z0-9]{1,32}) ([0-9]{1,15})");

    private final FleetCalls calls;
    private final String prefix;

    /** Creates a store. */
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
        return calls.values(List.of(list()), 1, MAX_LIST_BYTES, MAX_LIST_BYTES).thenCompose(this::reports);
    }

    private CompletableFuture<List<StoredReport>> reports(FleetValues list) {
        Map<String, Duration> ages = new LinkedHashMap<>();
        Optional<byte[]> known = list.values().get(0);
        // The list itself is foreign: no report can be found.
        if (known.isEmpty() && list.isForeign(0)) {
            return CompletableFuture.completedFuture(
                    List.of(new StoredReport("list", Duration.ZERO, Optional.empty())));
        }
        for (String text : new String(known.orElse(new byte[0]), US_ASCII).split("\n", -1)) {
            Matcher line = LISTED.matcher(text);
            if (ages.size() < MAX_INSTANCES && line.matches()) {
                long age = list.millis() - Long.parseLong(line.group(2));
                if (age < REPORT_LIFETIME.toMillis()) {
                    ages.putIfAbsent(line.group(1), Duration.ofMillis(Math.max(0, age)));
                }
            }
        }
        List<String> instances = List.copyOf(ages.keySet());
        List<String> keys = instances.stream().map(this::report).toList();
        return calls.values(keys, REPORTS_PER_CALL, MAX_REPORT_BYTES, ENOUGH_BYTES)
                .thenApply(found -> {
                    List<StoredReport> reports = new ArrayList<>();
                    for (int i = 0; i < keys.size(); i++) {
                        // A report without a value has expired since the list was read.
                        if (found.values().get(i).isPresent() || found.isForeign(i)) {
                            reports.add(new StoredReport(
                                    instances.get(i),
                                    Objects.requireNonNull(ages.get(instances.get(i))),
                                    found.values().get(i)));
                        }
                    }
                    return reports;
                });
    }

    @Override
    public CompletionStage<List<byte[]>> history(List<Long> steps) {
        return calls.values(steps.stream().map(this::step).toList(), STEPS_PER_CALL, MAX_STEP_BYTES, Long.MAX_VALUE)
                .thenApply(found -> found.values().stream()
                        .map(value -> value.orElseGet(() -> new byte[0]))
                        .toList());
    }
}
