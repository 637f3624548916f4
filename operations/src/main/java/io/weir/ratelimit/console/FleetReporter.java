// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.LiveRates;
import io.weir.ratelimit.console.report.RunningInstance;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.runtime.Plugin;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A task that reports this instance to the fleet if the console is enabled. */
@ApplicationScoped
public class FleetReporter implements Plugin.Task {
    private final Supplier<Operations> operations;
    private final Supplier<Optional<LiveRates>> rates;
    private final Instant started = Clock.systemUTC().instant();
    private volatile String server = "unknown";
    private volatile @Nullable FleetConsole fleet;

    /** The container creates an object at each request for the operations. */
    private volatile @Nullable Operations known;

    /** Creates a task with the operations, which exist after the deployment; for the container only. */
    @Inject
    public FleetReporter(Instance<Operations> operations, LiveDecisions decisions) {
        this(operations::get, decisions::rates);
    }

    /** Creates a proxy; for the container only. */
    protected FleetReporter() {
        this(
                () -> {
                    throw new IllegalStateException("a proxy has no operations");
                },
                Optional::empty);
    }

    FleetReporter(Supplier<Operations> operations, Supplier<Optional<LiveRates>> rates) {
        this.operations = operations;
        this.rates = rates;
    }

    /** Sets the name of the server. */
    void server(String name) {
        server = name;
    }

    @Override
    public Duration interval() {
        return ScheduledReports.CHECK_INTERVAL;
    }

    @Override
    public void run() {
        Operations current = known;
        if (current == null) {
            current = operations.get();
            known = current;
        }
        if (current.access().enabled()) {
            fleet().schedule().run();
        }
    }

    /** Returns the fleet as this instance sees it. */
    FleetConsole fleet() {
        FleetConsole created = fleet;
        return created != null ? created : create();
    }

    private synchronized FleetConsole create() {
        FleetConsole created = fleet;
        if (created == null) {
            RunningInstance instance = RunningInstance.startedAt(started);
            created = FleetConsole.of(
                    operations.get(),
                    rates.get().orElseGet(() -> new LiveRates(System::nanoTime)),
                    () -> instance.origin(server),
                    Clock.systemUTC(),
                    System::nanoTime);
            fleet = created;
        }
        return created;
    }
}
