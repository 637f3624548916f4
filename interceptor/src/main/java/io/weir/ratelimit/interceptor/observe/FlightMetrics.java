// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.observe;

import io.weir.ratelimit.spi.FlightListener;
import java.util.function.LongConsumer;

/**
 * Measures how checks are combined. Its series are made with it, at deployment: flights leave on threads of the store's client as
 * well, where servers neither find the configuration of buckets nor know to which application a series belongs.
 */
final class FlightMetrics implements FlightListener {
    private final LongConsumer size;
    private final LongConsumer queue;

    FlightMetrics(Meters meters) {
        this.size = meters.sizes(Metric.FLIGHT_SIZE);
        this.queue = meters.level(Metric.QUEUE_SIZE);
    }

    @Override
    public void onFlight(int checks, int keysWaiting) {
        size.accept(checks);
        queue.accept(keysWaiting);
    }
}
