// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.StepCounts;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.spi.BackendException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A store in memory whose time, failures and values a test sets. */
final class FakeFleetStore implements FleetStore {
    volatile Instant now = Instant.parse("2026-03-01T12:00:00Z");
    volatile Optional<BackendException> failure = Optional.empty();

    /** Whether reports are stored, but get no answer. */
    volatile boolean silent;

    /** Runs before the reports are read. */
    volatile Runnable beforeRead = () -> {};

    final Map<String, Stored> reports = new TreeMap<>();
    final Map<Long, StepCounts> steps = new TreeMap<>();
    final List<Map<Long, byte[]>> writes = new ArrayList<>();
    final List<List<Long>> historyReads = new ArrayList<>();
    int reads;

    record Stored(Instant at, Optional<byte[]> content) {}

    @Override
    public synchronized CompletionStage<Instant> report(String instance, byte[] report, Map<Long, byte[]> counts) {
        writes.add(counts);
        if (failure.isPresent()) {
            return CompletableFuture.failedFuture(failure.get());
        }
        if (report.length > MAX_REPORT_BYTES || counts.size() > 8) {
            throw new IllegalArgumentException("the report is too large");
        }
        reports.put(instance, new Stored(now, Optional.of(report)));
        counts.forEach((number, lines) ->
                steps.computeIfAbsent(number, first -> new StepCounts()).add(lines));
        return silent ? new CompletableFuture<>() : CompletableFuture.completedFuture(now);
    }

    @Override
    public synchronized CompletionStage<List<StoredReport>> reports() {
        reads++;
        beforeRead.run();
        return failure.isPresent()
                ? CompletableFuture.failedFuture(failure.get())
                : CompletableFuture.completedFuture(reports.entrySet().stream()
                        .map(entry -> new StoredReport(
                                entry.getKey(),
                                Duration.between(entry.getValue().at(), now),
                                entry.getValue().content()))
                        .filter(report -> report.age().compareTo(REPORT_LIFETIME) < 0)
                        .toList());
    }

    @Override
    public synchronized CompletionStage<List<byte[]>> history(List<Long> numbers) {
        historyReads.add(List.copyOf(numbers));
        return failure.isPresent()
                ? CompletableFuture.failedFuture(failure.get())
                : CompletableFuture.completedFuture(numbers.stream()
                        .map(number ->
                                steps.containsKey(number) ? steps.get(number).lines() : new byte[0])
                        .toList());
    }
}
