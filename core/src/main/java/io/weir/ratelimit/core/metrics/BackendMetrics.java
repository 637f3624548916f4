// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.spi.BackendListener;
import java.util.function.LongConsumer;

/**
 * The metrics of a shared backend. All series are created at deployment, because the backend also notifies on threads of its client.
 * On those threads, servers find neither the configured buckets nor the application of a series.
 */
public final class BackendMetrics implements BackendListener {
    private final LongConsumer size;
    private final LongConsumer duration;
    private final LongConsumer queue;
    private final LongConsumer breakerOpen;
    private final LongConsumer leases;

    public BackendMetrics(Meters meters) {
        this.size = meters.sizes(Meters.Metric.BATCH_SIZE);
        this.duration = meters.timer(Meters.Metric.BATCH_DURATION);
        this.queue = meters.gauge(Meters.Metric.QUEUE_SIZE);
        this.breakerOpen = meters.gauge(Meters.Metric.BREAKER_OPEN);
        this.leases = meters.gauge(Meters.Metric.LEASES);
    }

    @Override
    public void onBatch(int requests, int keysWaiting) {
        size.accept(requests);
        queue.accept(keysWaiting);
    }

    @Override
    public void onReply(long nanos) {
        duration.accept(nanos);
    }

    @Override
    public void onBreakerChange(boolean open) {
        breakerOpen.accept(open ? 1 : 0);
    }

    @Override
    public void onLeaseCount(int held) {
        leases.accept(held);
    }
}
