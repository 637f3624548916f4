// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.time.Duration;
import java.util.List;

/**
 * The keys with the most rejections, with the most calls and with the longest time near a limit under a policy, as seen recently by one
 * instance.
 *
 * <p>The counts are estimates in fixed memory, computed with the Space-Saving algorithm (Metwally, Agrawal and El Abbadi, 2005). If a list
 * is full, the count of a missing key is at most that of the last key of the list.
 *
 * @param rejected the keys with the most rejections, the greatest count first
 * @param active the keys with the most calls, allowed or rejected, the greatest count first
 * @param nearLimit the keys that are near a limit, the longest time first
 * @param period the period up to now in which calls are counted
 */
public record TopKeys(List<Entry> rejected, List<Entry> active, List<NearLimit> nearLimit, Duration period) {
    /** Copies the lists. */
    public TopKeys {
        rejected = List.copyOf(rejected);
        active = List.copyOf(active);
        nearLimit = List.copyOf(nearLimit);
    }

    /**
     * A key with bounds of its count.
     *
     * @param key the key as in logs and spans: hashed, never a name or an address
     * @param minCount the lower bound of the count, 0 or more
     * @param maxCount the upper bound of the count, {@code minCount} or more
     * @param utilization the highest spent part of a limit after a call of the key, from 0 to 1, rounded down to thousandths; 0 if the
     *     backend decided no call
     */
    public record Entry(String key, long minCount, long maxCount, double utilization) {
        /** Checks that the key is not blank, that the bounds are in order, and that the utilization is a part. */
        public Entry {
            if (key.isBlank() || minCount < 0 || maxCount < minCount || !(utilization >= 0 && utilization <= 1)) {
                throw new IllegalArgumentException("the key must not be blank, and 0 <= minCount <= maxCount and"
                        + " 0 <= utilization <= 1 must hold");
            }
        }
    }

    /**
     * A key that is near a limit: its recent calls found at least nine tenths of the limit spent. The time ends if no call finds this for
     * the length of the window, but at least five minutes and at most an hour. A limit with a capacity of one permit counts only if it
     * rejects calls, and a limit of zero permits never counts.
     *
     * @param key the key as in logs and spans: hashed, never a name or an address
     * @param duration the time between the first and the last of these calls, zero or more
     */
    public record NearLimit(String key, Duration duration) {
        /** Checks that the key is not blank and that the duration is not negative. */
        public NearLimit {
            if (key.isBlank() || duration.isNegative()) {
                throw new IllegalArgumentException("the key must not be blank, and the duration not negative");
            }
        }
    }
}
