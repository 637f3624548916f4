// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.PenaltyImposed;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The metric of penalties. A policy has a series from its first penalty on. */
public final class PenaltyMetrics implements Consumer<PenaltyImposed> {
    private final Meters meters;
    private final Map<String, Runnable> counters = new ConcurrentHashMap<>();

    public PenaltyMetrics(Meters meters) {
        this.meters = meters;
    }

    @Override
    public void accept(PenaltyImposed penalty) {
        counters.computeIfAbsent(penalty.policy(), policy -> meters.counter(Meters.Metric.PENALTIES, "policy", policy))
                .run();
    }
}
