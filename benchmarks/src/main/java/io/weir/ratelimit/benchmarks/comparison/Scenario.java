// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.benchmarks.comparison.Drive.InFlight;
import io.weir.ratelimit.benchmarks.comparison.Drive.Threads;
import java.util.ArrayList;
import java.util.List;

/**
 * A row of the table.
 *
 * @param workload what is decided about
 * @param drive how it is asked for
 */
public record Scenario(Workload workload, Drive drive) {
    private static final Drive ASYNC = new InFlight(256);

    /** All scenarios; those on one workload follow each other. */
    static final List<Scenario> ALL = all();

    /** What the quick run shows. */
    static final List<String> QUICK = List.of(
            "many-1", "many-64", "many-async-256", "hot-64", "hot-async-256", "three-many-16", "refused-many-16");

    private static List<Scenario> all() {
        List<Scenario> all = new ArrayList<>();
        for (Workload workload : List.of(Workload.MANY_KEYS, Workload.HOT_KEY, Workload.THREE_LIMITS)) {
            for (Drive drive : List.of(new Threads(1), new Threads(16), new Threads(64), ASYNC)) {
                all.add(new Scenario(workload, drive));
            }
        }
        all.add(new Scenario(Workload.THREE_LIMITS_HOT, new Threads(64)));
        for (Workload workload : List.of(Workload.REFUSED, Workload.REFUSED_HOT)) {
            all.add(new Scenario(workload, new Threads(1)));
            all.add(new Scenario(workload, new Threads(16)));
        }
        return List.copyOf(all);
    }

    /** Its name on the command line. */
    public String name() {
        return workload.name() + "-" + drive.name();
    }

    /** Its name in the table. */
    String title() {
        String keys = workload.keys() == 1 ? "one hot key" : "many keys";
        String limits = workload.limits() == 1 ? "" : ", " + workload.limits() + " limits";
        String refused = workload.refused() ? ", refused" : "";
        String callers = drive instanceof InFlight flight
                ? flight.count() + " in flight"
                : drive.name() + (drive.name().equals("1") ? " thread" : " threads");
        return callers + ", " + keys + limits + refused;
    }
}
