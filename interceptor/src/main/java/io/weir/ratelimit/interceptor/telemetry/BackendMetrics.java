// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import io.weir.ratelimit.spi.BackendListener;
import java.util.function.LongConsumer;

/**
 * Measures what a shared store does. Its series are made with it, at deployment: the store calls on threads of its client as well,
 * where servers neither find the configuration of buckets nor know to which application a series belongs.
 */
final class BackendMetrics implements BackendListener {
    private final LongConsumer size;
    private final LongConsumer queue;
    private final LongConsumer breakerOpen;
    private final LongConsumer leases;

    BackendMetrics(Meters meters) {
        this.size = meters.sizes(Metric.FLIGHT_SIZE);
        this.queue = meters.level(Metric.QUEUE_SIZE);
        this.breakerOpen = meters.level(Metric.BREAKER_OPEN);
        this.leases = meters.level(Metric.LEASES);
    }

    @Override
    public void onBatch(int checks, int keysWaiting) {
        size.accept(checks);
        queue.accept(keysWaiting);
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
