// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts how often keys are charged, in a fixed number of places. Keys that fall together count as one, so that one may seem busy a
 * little too early.
 */
final class Busyness {
    /** So many charges within one span are worth a lease. */
    static final int BUSY = 16;

    private static final long SPAN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int PLACES = 4_096;
    private static final int COUNT = 5;

    private final AtomicLongArray places = new AtomicLongArray(PLACES);

    /** Counts a charge; true if the key is busy. */
    boolean isBusy(String key, long nowNanos) {
        int hash = key.hashCode() * 0x9E3779B9;
        int place = (hash ^ hash >>> 16) & PLACES - 1;
        long span = Math.floorDiv(nowNanos, SPAN_NANOS) << COUNT;
        long after = places.updateAndGet(
                place,
                before -> before >> COUNT << COUNT != span ? span + 1 : before < span + BUSY ? before + 1 : before);
        return after == span + BUSY;
    }
}
