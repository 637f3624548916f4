// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.concurrent.atomic.AtomicLongArray;

/** How long calls took, each within a sixteenth. For use by any number of threads. */
final class Latencies {
    private static final int PARTS = 16;

    private final AtomicLongArray counts = new AtomicLongArray(64 * PARTS);

    void record(long nanos) {
        counts.incrementAndGet(bucket(Math.max(nanos, PARTS)));
    }

    void addTo(Latencies sum) {
        for (int i = 0; i < counts.length(); i++) {
            sum.counts.addAndGet(i, counts.get(i));
        }
    }

    /** The time that a part of the calls did not exceed, in nanoseconds; 0 if there were none. */
    long percentile(double part) {
        long all = 0;
        for (int i = 0; i < counts.length(); i++) {
            all += counts.get(i);
        }
        long below = 0;
        for (int i = 0; i < counts.length(); i++) {
            below += counts.get(i);
            if (below >= part * all && below > 0) {
                return upperEnd(i);
            }
        }
        return 0;
    }

    private static int bucket(long nanos) {
        int exponent = 63 - Long.numberOfLeadingZeros(nanos);
        return exponent * PARTS + (int) ((nanos >> (exponent - 4)) & (PARTS - 1));
    }

    private static long upperEnd(int bucket) {
        int exponent = bucket / PARTS;
        return (((long) PARTS + bucket % PARTS + 1) << (exponent - 4)) - 1;
    }
}
