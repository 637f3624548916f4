// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.concurrent.atomic.AtomicLongArray;

/** A histogram of latencies with a relative error of at most 1/16. Thread-safe. */
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

    /** Returns a percentile in nanoseconds; 0 without calls. */
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
