// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.benchmarks.comparison.LoadPattern.Asynchronous;
import io.weir.ratelimit.benchmarks.comparison.LoadPattern.Threads;
import java.util.ArrayList;
import java.util.List;

/**
 * A scenario, which is a row of the table.
 *
 * @param workload the keys and limits
 * @param pattern the concurrency
 * @param cluster whether Redis is a cluster
 */
public record Scenario(Workload workload, LoadPattern pattern, boolean cluster) {
    private static final LoadPattern ASYNC = new Asynchronous(256);

    /** All scenarios, ordered by workload. */
    static final List<Scenario> ALL = all();

    /** The scenarios of a quick run. */
    static final List<String> QUICK = List.of(
            "many-1",
            "many-16",
            "many-64",
            "many-async-256",
            "hot-64",
            "hot-async-256",
            "three-many-16",
            "three-policies-16",
            "rejected-many-16",
            "rejected-hot-16",
            "limited-64",
            "cluster-many-64",
            "cluster-many-async-256");

    private static List<Scenario> all() {
        List<Scenario> all = new ArrayList<>();
        for (Workload workload : List.of(Workload.MANY_KEYS, Workload.HOT_KEY, Workload.THREE_LIMITS)) {
            for (LoadPattern pattern :
                    List.of(new Threads(1), new Threads(4), new Threads(16), new Threads(64), ASYNC)) {
                all.add(new Scenario(workload, pattern, false));
            }
        }
        all.add(new Scenario(Workload.THREE_LIMITS_HOT, new Threads(64), false));
        all.add(new Scenario(Workload.THREE_POLICIES, new Threads(16), false));
        for (Workload workload : List.of(Workload.REJECTED, Workload.REJECTED_HOT)) {
            all.add(new Scenario(workload, new Threads(1), false));
            all.add(new Scenario(workload, new Threads(16), false));
        }
        all.add(new Scenario(Workload.LIMITED, new Threads(64), false));
        for (LoadPattern pattern : List.of(new Threads(1), new Threads(16), new Threads(64), ASYNC)) {
            all.add(new Scenario(Workload.MANY_KEYS, pattern, true));
        }
        all.add(new Scenario(Workload.HOT_KEY, new Threads(64), true));
        all.add(new Scenario(Workload.THREE_LIMITS, new Threads(16), true));
        all.add(new Scenario(Workload.LIMITED, new Threads(64), true));
        return List.copyOf(all);
    }

    /** Returns the name on the command line. */
    public String name() {
        return (cluster ? "cluster-" : "") + workload.name() + "-" + pattern.name();
    }

    /** Returns the name in the table. */
    String title() {
        return callers() + ", " + group();
    }

    /** Returns the concurrency as text. */
    String callers() {
        if (pattern instanceof Asynchronous asynchronous) {
            return asynchronous.count() + " in flight";
        }
        return pattern.name() + (pattern.name().equals("1") ? " thread" : " threads");
    }

    /** Returns the workload as text, which scenarios of one table share. */
    String group() {
        String keys = workload.keys() == 1 ? "one hot key" : "many keys";
        String limits = workload.limits() == 1
                ? ""
                : ", " + workload.limits() + (workload.policies() ? " policies" : " limits");
        String rejected = workload.rejected() ? ", rejected" : "";
        return keys + limits + rejected + (cluster ? ", cluster" : "");
    }
}
