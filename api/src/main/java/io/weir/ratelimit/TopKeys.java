// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.time.Duration;
import java.util.List;

/**
 * Who was refused, and who called, most often of late under a policy, as far as one instance has seen. Estimates in fixed memory: a
 * key that is not among them can have been refused or have called too, but no more often than the last one of a full list.
 *
 * @param refused the keys that were refused most often, the most first
 * @param active the keys that were decided about most often, refused or not, the most first
 * @param over the time that is counted, up to now
 */
public record TopKeys(List<Entry> refused, List<Entry> active, Duration over) {
    /** Copies the lists. */
    public TopKeys {
        refused = List.copyOf(refused);
        active = List.copyOf(active);
    }

    /**
     * A key and how often it was seen.
     *
     * @param key the key as logs and spans show it: hashed, never a name or an address
     * @param atLeast how often it was seen at least, 0 or more
     * @param atMost how often it was seen at most, {@code atLeast} or more
     */
    public record Entry(String key, long atLeast, long atMost) {
        /** Checks the bounds. */
        public Entry {
            if (key.isBlank() || atLeast < 0 || atMost < atLeast) {
                throw new IllegalArgumentException(
                        "a key is not blank and is seen 0 times or more, at least before at most");
            }
        }
    }
}
