// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.time.Duration;
import java.util.List;

/**
 * The keys with the most rejections and the keys with the most calls under a policy, as seen recently by one instance.
 *
 * <p>The counts are estimates in fixed memory, computed with the Space-Saving algorithm (Metwally, Agrawal and El Abbadi, 2005). If a list
 * is full, the count of a missing key is at most that of the last key of the list.
 *
 * @param rejected the keys with the most rejections, the greatest count first
 * @param active the keys with the most calls, allowed or rejected, the greatest count first
 * @param period the period up to now in which calls are counted
 */
public record TopKeys(List<Entry> rejected, List<Entry> active, Duration period) {
    /** Copies the lists. */
    public TopKeys {
        rejected = List.copyOf(rejected);
        active = List.copyOf(active);
    }

    /**
     * A key with bounds of its count.
     *
     * @param key the key as in logs and spans: hashed, never a name or an address
     * @param minCount the lower bound of the count, 0 or more
     * @param maxCount the upper bound of the count, {@code minCount} or more
     */
    public record Entry(String key, long minCount, long maxCount) {
        /** Checks that the key is not blank and that the bounds are in order. */
        public Entry {
            if (key.isBlank() || minCount < 0 || maxCount < minCount) {
                throw new IllegalArgumentException(
                        "the key must not be blank, and 0 <= minCount <= maxCount must hold");
            }
        }
    }
}
