// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.ChargedResults;
import java.util.List;

/** The spent part of limits in thousandths, rounded down. It is an integer, because counters record it with each call. */
final class Utilization {
    static final int FULL = 1_000;

    /** The least utilization of a key that is near its limit. */
    static final int NEAR = 900;

    private Utilization() {}

    /**
     * Returns the utilization of the fullest limit of a charge, 0 without quotas. A limit of zero permits is fully spent. A block is no
     * utilization.
     */
    static int of(Decision decision, int charge) {
        if (decision.results() instanceof ChargedResults only) {
            return of(only.capacity(), only.remaining());
        }
        List<Quota> quotas = quotas(decision, charge);
        int fullest = 0;
        for (int i = 0; i < quotas.size(); i++) {
            fullest = Math.max(fullest, of(quotas.get(i)));
        }
        return fullest;
    }

    private static List<Quota> quotas(Decision decision, int charge) {
        List<ChargeResult> results = decision.results();
        return results.isEmpty() ? List.of() : results.get(charge).quotas();
    }

    private static int of(Quota quota) {
        return quota.blocked() ? 0 : of(quota.capacity(), quota.remaining());
    }

    private static int of(long capacity, long remaining) {
        if (remaining >= capacity) {
            return capacity == 0 ? FULL : 0;
        }
        return (int) (FULL * (double) (capacity - remaining) / capacity);
    }

    /**
     * Returns the longest window in nanoseconds of the limits that are nearly spent, 0 if none is. Each call spends a capacity of one
     * permit, so that this limit must also have rejected the call. A limit of zero permits blocks a key, which is never near it.
     */
    static long nearWindowNanos(Decision decision, int charge) {
        List<Quota> quotas = quotas(decision, charge);
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
