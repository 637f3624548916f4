// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.core.snapshot.Reading;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The times of the reports of this instance. A report is due every five seconds, and at most a second after the instance has applied a
 * runtime change or another configuration. Several changes in a second have one report. A change has no report of its own while the last
 * report has no answer or has failed, so that a slow store gets no more reports than without changes. One thread runs it at a time.
 */
final class ScheduledReports implements Runnable {
    /** The time between two checks. */
    static final Duration CHECK_INTERVAL = Duration.ofMillis(500);

    /** The longest time between two reports. */
    static final Duration INTERVAL = Duration.ofSeconds(5);

    /** The shortest time between two reports: that of two checks, of which a timer can be late. */
    static final Duration SHORTEST_INTERVAL = Duration.ofMillis(900);

    private final Operations operations;
    private final FleetReports reports;
    private final LongSupplier nanoTime;
    private @Nullable Reported last;

    /** The configuration and the runtime changes in force at a report. */
    private record State(Reading reading, Optional<String> changes) {
        static State of(Operations operations) {
            return new State(
                    operations.lastReading(),
                    operations.changes().map(RuntimeChanges::view).map(RuntimeChanges.View::tag));
        }
    }

    private record Reported(long nanos, State state) {}

    ScheduledReports(Operations operations, FleetReports reports, LongSupplier nanoTime) {
        this.operations = operations;
        this.reports = reports;
        this.nanoTime = nanoTime;
    }

    /** Reports if a report is due, without waiting for the store. */
    @Override
    public void run() {
        long now = nanoTime.getAsLong();
        // The state is read before the report: a change in between has another report.
        State state = State.of(operations);
        if (isDue(now, state)) {
            last = new Reported(now, state);
            reports.run();
        }
    }

    private boolean isDue(long now, State state) {
        Reported before = last;
        if (before == null) {
            return true;
        }
        Duration since = Duration.ofNanos(now - before.nanos);
        return since.compareTo(INTERVAL) >= 0
                || (since.compareTo(SHORTEST_INTERVAL) >= 0 && !state.equals(before.state) && reports.isAnswered());
    }
}
