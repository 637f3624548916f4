// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.console.report.LiveRates;
import io.weir.ratelimit.console.report.MinuteCounts;
import io.weir.ratelimit.console.report.ReportBuilder;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.operations.Operations;
import java.time.Clock;
import java.util.Optional;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The parts that report this instance and that read the reports and the history of all instances. */
record FleetConsole(FleetReports reports, ScheduledReports schedule, FleetReader reader, FleetHistory history) {
    /** Creates the parts of this instance, with the time of day and a monotonic clock. */
    static FleetConsole of(
            Operations operations,
            LiveRates rates,
            Supplier<InstanceReport.Origin> origin,
            Clock clock,
            LongSupplier nanoTime) {
        String id = UUID.randomUUID().toString().replace("-", "").substring(0, 16);
        Optional<FleetStore> shared = operations.fleetStore();
        FleetStore store = shared.orElseGet(() -> new LocalFleetStore(clock));
        MinuteCounts minutes = new MinuteCounts(nanoTime);
        ReportBuilder builder = new ReportBuilder(operations, rates, origin, minutes);
        FleetReports reports = new FleetReports(id, store, builder, rates, minutes, clock);
        return new FleetConsole(
                reports,
                new ScheduledReports(operations, reports, nanoTime),
                new FleetReader(id, shared, builder, reports::storeTime, nanoTime),
                new FleetHistory(store, reports::storeTime, nanoTime));
    }
}
