// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.rejection;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Detector of keys that are called often. It has a fixed number of counters. Keys that share one count together, so a key may be reported
 * as hot a little early.
 */
public final class HotKeyDetector {
    /** The number of calls within one interval that make a key hot. */
    public static final int HOT = 16;

    private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int COUNTERS = 4_096;

    /** The lower bits of a counter, which hold the number of calls; the others hold the interval. */
    private static final int COUNT_BITS = 5;

    private final AtomicLongArray counters = new AtomicLongArray(COUNTERS);

    /** Counts a call, and returns whether its key is hot. */
    public boolean isHot(String key, long nowNanos) {
        int hash = key.hashCode() * 0x9E3779B9;
        int index = (hash ^ hash >>> 16) & COUNTERS - 1;
        long none = Math.floorDiv(nowNanos, INTERVAL_NANOS) << COUNT_BITS;
        long counted = counters.updateAndGet(
                index,
                before -> before >> COUNT_BITS << COUNT_BITS != none
                        ? none + 1
                        : before < none + HOT ? before + 1 : before);
        return counted == none + HOT;
    }
}
