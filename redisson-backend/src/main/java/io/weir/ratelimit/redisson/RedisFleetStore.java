// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.stream.Collectors.joining;

import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
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
 * The reports of instances in Redis, and their presence. The keys of the reports of a namespace are in one slot, and the key of the
 * presence is one of the keys that each instance may write.
 */
final class RedisFleetStore implements FleetStore, FleetStore.Presence {
    /** The keys of one call that reads reports: at most 1 MiB. */
    private static final int REPORTS_PER_CALL = 16;

    /** The keys of one call that reads steps: at most 480 KiB, and usually a few KiB. */
    private static final int STEPS_PER_CALL = 30;

    /** The greatest number of instances in a list. */
    private static final int MAX_LISTED = FleetStore.MAX_INSTANCES;

    /** A line of a list of instances has at most 49 bytes. */
    private static final int MAX_LIST_BYTES = 49 * MAX_LISTED;

    /** The bytes of the reports after which no further call reads any: 256 of the longest reports. */
    private static final long ENOUGH_BYTES = 256L * MAX_REPORT_BYTES;

    private static final Pattern LISTED = Pattern.compile("([a-z0-9]{1,32}) ([0-9]{1,15})");

    private final FleetCalls calls;
    private final String prefix;
    private final String presence;

    /** Creates a store. */
    RedisFleetStore(FleetCalls calls, String namespace) {
        this.calls = calls;
        this.prefix = "weir:1:fleet:{" + namespace + "}:";
        this.presence = RedisKeys.of(namespace).prefix() + "instances}:+present";
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
        if (report.length > MAX_REPORT_BYTES || counts.size() > 8) {
            throw new IllegalArgumentException("the report has another form or is too large");
        }
        Map<Long, byte[]> sorted = new TreeMap<>(counts);
        List<Object> keys = new ArrayList<>(List.of(list(), report(instance)));
        sorted.keySet().forEach(number -> keys.add(step(number)));
        List<byte[]> parts = new ArrayList<>(List.of(report));
        parts.addAll(sorted.values());
        return record(keys, instance, REPORT_LIFETIME, parts)
                .thenApply(reply -> Instant.ofEpochMilli(Long.parseLong(reply[0])));
    }

    @Override
    public CompletionStage<Integer> present(String instance) {
        return record(List.of(presence), instance, LIFETIME, List.of(new byte[0]))
                .thenApply(reply -> Integer.valueOf(reply[2]))
                .thenCompose(live -> live > 0
                        ? CompletableFuture.completedFuture(live)
                        : CompletableFuture.failedFuture(new BackendException(
                                Reason.BACKEND_ERROR, "the key " + presence + " has a value of another type", null)));
    }

    /** Records that an instance is live, with its report and the counts of each step. Returns the fields of the reply. */
    private CompletableFuture<String[]> record(
            List<Object> keys, String instance, Duration lifetime, List<byte[]> parts) {
        if (!instance.matches("[a-z0-9]{1,32}")) {
            throw new IllegalArgumentException("the instance has another form");
        }
        LongStream numbers = LongStream.concat(
                LongStream.of(
                        lifetime.toMillis(), HISTORY_LIFETIME.toMillis(), MAX_LISTED, MAX_LIST_BYTES, MAX_STEP_BYTES),
                parts.stream().mapToLong(part -> part.length));
        ByteArrayOutputStream argument = new ByteArrayOutputStream();
        String header = numbers.mapToObj(number -> " " + number).collect(joining("", instance, "\n"));
        argument.writeBytes(header.getBytes(US_ASCII));
        parts.forEach(argument::writeBytes);
        return calls.run(Script.REPORT, keys, argument.toByteArray())
                .thenApply(reply -> new String(reply, US_ASCII).split(" ", 3));
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
            if (ages.size() < MAX_LISTED && line.matches()) {
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
