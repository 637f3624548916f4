// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.StepCounts;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.spi.BackendException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The decisions of the last hour in steps of ten seconds, over all instances. Steps that no instance changes any more are kept, so a page
 * reads the steps of the last minute only.
 */
final class FleetHistory {
    /** The number of steps, without the current one. */
    static final int STEPS = 360;

    /** Instances add the seconds of at most a minute, and their next report may be ten seconds late. */
    private static final int OPEN_STEPS = 8;

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private final FleetStore store;
    private final Supplier<Instant> storeTime;
    private final LongSupplier nanoTime;
    private final ReentrantLock reading = new ReentrantLock();

    /** Guarded by the lock. */
    private final NavigableMap<Long, StepCounts> closed = new TreeMap<>();

    /** The last failed reading. Guarded by the lock. */
    private @Nullable Failure last;

    private record Failure(long nanos, BackendException cause) {}

    /** Decisions per step from the first step on. They are zero if the store could not be read because of a problem. */
    record Series(long first, List<StepCounts.Counts> counts, Optional<String> problem) {}

    FleetHistory(FleetStore store, Supplier<Instant> storeTime, LongSupplier nanoTime) {
        this.store = store;
        this.storeTime = storeTime;
        this.nanoTime = nanoTime;
    }

    /** Returns the decisions of a policy; of all policies if it is empty. */
    Series of(Optional<String> policy) {
        String name = policy.map(StepCounts::nameOf).orElse(StepCounts.ALL);
        long end = Math.floorDiv(storeTime.get().getEpochSecond(), FleetStore.STEP.toSeconds());
        long first = end - STEPS;
        Optional<String> problem = Optional.empty();
        NavigableMap<Long, StepCounts> steps;
        try {
            steps = readAlone(first, end);
        } catch (BackendException e) {
            steps = new TreeMap<>();
            problem = Optional.of(e.reason().tag());
        }
        List<StepCounts.Counts> counts = new ArrayList<>();
        for (long step = first; step < end; step++) {
            StepCounts known = steps.get(step);
            counts.add(known == null ? StepCounts.Counts.NONE : known.of(name));
        }
        return new Series(first, counts, problem);
    }

    /** Reads the steps while no other page does, and not again at once after a failure: a slow store gets few reads. */
    private NavigableMap<Long, StepCounts> readAlone(long first, long end) {
        if (!locked()) {
            throw new BackendException(BackendException.Reason.TIMEOUT, "Another page is reading the history.", null);
        }
        try {
            Failure known = last;
            if (known != null && nanoTime.getAsLong() - known.nanos < FleetReader.PAUSE.toNanos()) {
                throw known.cause;
            }
            return read(first, end);
        } finally {
            reading.unlock();
        }
    }

    private boolean locked() {
        try {
            return reading.tryLock(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private NavigableMap<Long, StepCounts> read(long first, long end) {
        closed.headMap(first).clear();
        NavigableMap<Long, StepCounts> steps = new TreeMap<>(closed.headMap(end - OPEN_STEPS));
        List<Long> missing = new ArrayList<>();
        for (long step = first; step < end; step++) {
            if (!steps.containsKey(step)) {
                missing.add(step);
            }
        }
        List<byte[]> found;
        try {
            found = await(missing);
        } catch (BackendException e) {
            last = new Failure(nanoTime.getAsLong(), e);
            throw e;
        }
        for (int i = 0; i < missing.size(); i++) {
            steps.put(missing.get(i), StepCounts.parse(found.get(i)));
        }
        closed.putAll(steps.headMap(end - OPEN_STEPS));
        return steps;
    }

    private List<byte[]> await(List<Long> steps) {
        try {
            return store.history(steps)
                    .toCompletableFuture()
                    .copy()
                    .orTimeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                    .join();
        } catch (CompletionException | CancellationException e) {
            if (e.getCause() instanceof BackendException known) {
                throw known;
            }
            throw new BackendException(
                    e.getCause() instanceof TimeoutException
                            ? BackendException.Reason.TIMEOUT
                            : BackendException.Reason.BACKEND_ERROR,
                    "The history was not read.",
                    e);
        }
    }
}
