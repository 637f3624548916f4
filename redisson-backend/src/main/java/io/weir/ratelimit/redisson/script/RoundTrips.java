// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

/** The shortest time to Redis and back among the latest batches, which is about that of the network. Not thread-safe. */
final class RoundTrips {
    /** The requests of a batch that shows the time of the network. For a larger one, Redis itself needs much of the time. */
    private static final int SMALL = 2;

    /** After this many small batches, a longer time of the network is known, for example after a failover to another zone. */
    static final int SMALL_BATCHES = 256;

    /** After this many larger batches, the next one is small, so that the time of the network is known under load too. */
    static final int LARGER_BATCHES = 256;

    private long shortestNanos = Long.MAX_VALUE;
    private long nextNanos = Long.MAX_VALUE;
    private int small;
    private int larger;

    /** Adds the time between a batch and its reply. */
    void add(int requests, long nanos) {
        // The network takes less than this in any case.
        shortestNanos = Math.min(shortestNanos, nanos);
        nextNanos = Math.min(nextNanos, nanos);
        if (requests > SMALL) {
            larger++;
            return;
        }
        larger = 0;
        small++;
        if (small == SMALL_BATCHES) {
            shortestNanos = nextNanos;
            nextNanos = Long.MAX_VALUE;
            small = 0;
        }
    }

    /** Returns the shortest time, the largest number before the first reply. */
    long shortestNanos() {
        return shortestNanos;
    }

    /** Returns how many requests the next batch may have. */
    int maxRequests() {
        return larger < LARGER_BATCHES ? Integer.MAX_VALUE : SMALL;
    }
}
