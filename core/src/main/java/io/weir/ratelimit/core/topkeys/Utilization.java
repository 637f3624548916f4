// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.ChargedQuotas;
import java.util.List;

/** The spent part of limits in thousandths, rounded down. It is an integer, because counters record it with each call. */
final class Utilization {
    /** A fully spent limit. */
    static final int FULL = 1_000;

    /** The least utilization of a key that is near its limit. */
    static final int NEAR = 900;

    private Utilization() {}

    /** Returns the utilization of the fullest limit of the quotas of a charge, 0 without quotas. A limit of zero permits is fully spent. */
    static int of(List<Quota> quotas) {
        if (quotas instanceof ChargedQuotas only) {
            return of(only.capacity(), only.remaining());
        }
        int fullest = 0;
        for (int i = 0; i < quotas.size(); i++) {
            fullest = Math.max(fullest, of(quotas.get(i)));
        }
        return fullest;
    }

    private static int of(Quota quota) {
        return of(quota.capacity(), quota.remaining());
    }

    private static int of(long capacity, long remaining) {
        double all = capacity;
        return capacity == 0 ? FULL : (int) Math.max(0, FULL * (all - remaining) / all);
    }

    /**
     * Returns the longest window in nanoseconds of the limits that are nearly spent, 0 if none is. Each call spends a capacity of one
     * permit, so that this limit must also have rejected the call. A limit of zero permits blocks a key, which is never near it.
     */
    static long nearWindowNanos(List<Quota> quotas) {
        long longest = 0;
        for (int i = 0; i < quotas.size(); i++) {
            Quota quota = quotas.get(i);
            if (of(quota) >= NEAR && quota.capacity() > 0 && (quota.capacity() > 1 || quota.rejected())) {
                longest = Math.max(longest, quota.window().toNanos());
            }
        }
        return longest;
    }
}
