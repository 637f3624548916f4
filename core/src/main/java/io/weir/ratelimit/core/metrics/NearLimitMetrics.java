// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * The metric of the longest time for which a key of a policy has been near a limit. The first call creates the series of all policies, on
 * the thread of the deployment. Only one thread at a time may call.
 */
public final class NearLimitMetrics implements Consumer<Map<String, Duration>> {
    private final Meters meters;
    private final Map<String, LongConsumer> gauges = new HashMap<>();

    public NearLimitMetrics(Meters meters) {
        this.meters = meters;
    }

    /** Records the times. The series of a policy that no longer exists becomes 0. */
    @Override
    public void accept(Map<String, Duration> longest) {
        longest.keySet()
                .forEach(policy -> gauges.computeIfAbsent(
                        policy, first -> meters.gauge(Meters.Metric.NEAR_LIMIT, "policy", policy)));
        gauges.forEach((policy, gauge) ->
                gauge.accept(longest.getOrDefault(policy, Duration.ZERO).toMinutes()));
    }
}
