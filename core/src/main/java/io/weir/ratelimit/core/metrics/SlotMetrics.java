// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.core.slots.SlotListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/** The metrics of the slots that running calls hold. */
public final class SlotMetrics implements SlotListener {
    private final Meters meters;
    private final Map<String, Series> series = new ConcurrentHashMap<>();

    private record Series(LongConsumer held, Runnable lost) {}

    public SlotMetrics(Meters meters) {
        this.meters = meters;
    }

    @Override
    public void held(String policy, int calls) {
        series(policy).held.accept(calls);
    }

    @Override
    public void lost(String policy) {
        series(policy).lost.run();
    }

    private Series series(String policy) {
        Series known = series.get(policy);
        return known != null
                ? known
                : series.computeIfAbsent(
                        policy,
                        first -> new Series(
                                meters.gauge(Meters.Metric.CONCURRENCY, "policy", policy),
                                meters.counter(Meters.Metric.CONCURRENCY_LOST, "policy", policy)));
    }
}
