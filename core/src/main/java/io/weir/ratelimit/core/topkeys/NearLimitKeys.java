// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The keys of one policy that are near a limit, and the time for which they have been. Only calls of such keys use this class.
 *
 * <p>A key stays near its limit until no call finds it there for the length of the window, but at least five minutes and at most an
 * hour. Otherwise, each start of a window would end the time, and so would a few calls that other instances decide.
 *
 * <p>If there are too many keys, the key with the shortest time is dropped. Keys that spend a limit once therefore do not displace a key
 * that has been near its limit for long.
 */
final class NearLimitKeys {
    static final int KEYS = 64;

    private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MINUTES.toNanos(5);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.HOURS.toNanos(1);

    /** Later calls within this time do not write, so that the threads of a busy key do not contend. */
    private static final long PRECISION_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Map<String, Stay> stays = new ConcurrentHashMap<>();

    /** Guards the addition of keys. No thread waits for it. */
    private final ReentrantLock lock = new ReentrantLock();

    /** A key with the time for which it has been near its limit. */
    record Entry(String key, long nanos) {
        private static final Comparator<Entry> LONGEST_FIRST =
                Comparator.comparingLong(Entry::nanos).reversed().thenComparing(Entry::key);
    }

    /** The time of one key near its limit: from its first call to its last one. */
    private static final class Stay {
        private final long first;
        private volatile long last;
        private volatile long pause;

        private Stay(long nanos, long pause) {
            this.first = nanos;
            this.last = nanos;
            this.pause = pause;
        }

        private boolean isOver(long nanos) {
            return nanos - last > pause;
        }

        private void extend(long nanos, long newPause) {
            if (nanos - last >= PRECISION_NANOS) {
                last = nanos;
            }
            if (pause != newPause) {
                pause = newPause;
            }
        }

        private long length() {
            return last - first;
        }
    }

    /** Counts a call of a key that is near a limit with a window. */
    void count(String key, long windowNanos, long nanos) {
        long pause = Math.min(LONGEST_PAUSE_NANOS, Math.max(SHORTEST_PAUSE_NANOS, windowNanos));
        Stay stay = stays.get(key);
        if (stay != null && !stay.isOver(nanos)) {
            stay.extend(nanos, pause);
        } else if (key.length() <= SpaceSaving.LONGEST && lock.tryLock()) {
            try {
                makeRoom(key, nanos);
                stays.put(key, new Stay(nanos, pause));
            } finally {
                lock.unlock();
            }
        }
    }

    private void makeRoom(String key, long nanos) {
        if (stays.size() >= KEYS && !stays.containsKey(key)) {
            stays.entrySet().stream()
                    .min(Comparator.comparingLong((Map.Entry<String, Stay> entry) ->
                                    entry.getValue().isOver(nanos)
                                            ? -1
                                            : entry.getValue().length())
                            .thenComparingLong(entry -> entry.getValue().last - nanos))
                    .ifPresent(shortest -> stays.remove(shortest.getKey()));
        }
    }

    /** Returns the keys that are near a limit, the longest time first. */
    List<Entry> at(long nanos) {
        List<Entry> entries = new ArrayList<>();
        stays.forEach((key, stay) -> {
            if (!stay.isOver(nanos)) {
                entries.add(new Entry(key, stay.length()));
            }
        });
        entries.sort(Entry.LONGEST_FIRST);
        return entries;
    }

    Set<String> keys() {
        return Set.copyOf(stays.keySet());
    }
}
