// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import io.weir.ratelimit.core.metrics.Meters;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The metrics of pauses and retries of REST clients. Clients bound the number of series. */
public final class OutgoingMetrics implements OutgoingListener {
    private final Meters meters;
    private final Map<String, Map<String, Runnable>> pauses = new ConcurrentHashMap<>();
    private final Map<String, Map<String, Runnable>> retries = new ConcurrentHashMap<>();

    public OutgoingMetrics(Meters meters) {
        this.meters = meters;
    }

    @Override
    public void paused(String client, Cause cause) {
        count(pauses, Meters.Metric.CLIENT_PAUSES, client, "cause", cause.name().toLowerCase(Locale.ROOT));
    }

    @Override
    public void retried(String client, boolean allowed) {
        count(retries, Meters.Metric.CLIENT_RETRIES, client, "outcome", allowed ? "allowed" : "rejected");
    }

    private void count(
            Map<String, Map<String, Runnable>> series, Meters.Metric metric, String client, String tag, String value) {
        series.computeIfAbsent(client, first -> new ConcurrentHashMap<>())
                .computeIfAbsent(value, first -> meters.counter(metric, "client", client, tag, value))
                .run();
    }
}
