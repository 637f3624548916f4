// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The blocked keys, up to a maximum number. A block is that of a policy and a stored key, so it does not depend on limits. While no key is
 * blocked, a decision reads one field. The caller of a change holds the locks of the shards of the key.
 */
final class BlockedKeys {
    private static final long SEARCH_INTERVAL_MICROS = TimeUnit.SECONDS.toMicros(1);

    private final int maxBlocks;
    private final Map<StateKey, Long> ends = new ConcurrentHashMap<>();

    /** An instant from which no key is blocked, in microseconds. */
    private volatile long latestEndMicros;

    /** Until when a full table is not searched again, in microseconds. */
    private long searchMicros = Long.MIN_VALUE;

    BlockedKeys(int maxBlocks) {
        this.maxBlocks = maxBlocks;
    }

    /** Returns the end of the block of a key, in microseconds; 0 if it is not blocked. */
    long end(String policy, String storedKey, long nowMicros) {
        if (nowMicros >= latestEndMicros) {
            return 0;
        }
        Long end = ends.get(StateKey.of(storedKey, policy));
        return end != null && end > nowMicros ? end : 0;
    }

    /** Blocks a key until an end, unless it is blocked for longer. Returns the end of the block; 0 if too many keys are blocked. */
    synchronized long block(String policy, String storedKey, long endMicros, long nowMicros) {
        StateKey key = StateKey.of(storedKey, policy);
        if (nowMicros >= latestEndMicros || (ends.size() >= maxBlocks && !ends.containsKey(key))) {
            // If the clock has stepped back, the table is searched again.
            if (nowMicros < searchMicros && nowMicros >= searchMicros - SEARCH_INTERVAL_MICROS) {
                return 0;
            }
            ends.values().removeIf(end -> end <= nowMicros);
            if (ends.size() >= maxBlocks) {
                searchMicros = nowMicros + SEARCH_INTERVAL_MICROS;
                return 0;
            }
        }
        latestEndMicros = Math.max(latestEndMicros, endMicros);
        return ends.merge(key, endMicros, Math::max);
    }

    synchronized void unblock(String policy, String storedKey) {
        ends.remove(StateKey.of(storedKey, policy));
        if (ends.isEmpty()) {
            latestEndMicros = 0;
        }
    }
}
