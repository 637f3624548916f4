// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.StepCounts;
import io.weir.ratelimit.core.operations.FleetStore;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The history of this instance in process, for a backend that instances do not share. It keeps no reports. */
final class LocalFleetStore implements FleetStore {
    private static final int STEPS = (int) HISTORY_LIFETIME.dividedBy(STEP);

    private final Clock clock;
    private final NavigableMap<Long, StepCounts> steps = new TreeMap<>();

    LocalFleetStore(Clock clock) {
        this.clock = clock;
    }

    @Override
    public synchronized CompletionStage<Instant> report(String instance, byte[] report, Map<Long, byte[]> counts) {
        counts.forEach((number, lines) ->
                steps.computeIfAbsent(number, first -> new StepCounts()).add(lines));
        while (steps.size() > STEPS) {
            steps.pollFirstEntry();
        }
        return CompletableFuture.completedFuture(clock.instant());
    }

    @Override
    public CompletionStage<List<StoredReport>> reports() {
        return CompletableFuture.completedFuture(List.of());
    }

    @Override
    public synchronized CompletionStage<List<byte[]>> history(List<Long> numbers) {
        return CompletableFuture.completedFuture(numbers.stream()
                .map(number -> steps.containsKey(number) ? steps.get(number).lines() : new byte[0])
                .toList());
    }
}
