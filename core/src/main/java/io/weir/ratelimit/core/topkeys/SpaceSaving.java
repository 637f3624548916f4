// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A sketch of the most frequent keys with bounds of their counts, in fixed memory: Space-Saving (Metwally, Agrawal, El Abbadi:
 * Efficient Computation of Frequent and Top-k Elements in Data Streams, ICDT 2005). Of n calls, each key with more than n /
 * {@value #COUNTERS} calls has a counter.
 *
 * <p>A key without a counter increments one of the cells, which such keys share by hash code. When the cell reaches the least
 * counter, the key takes over that counter (Homem, Carvalho: Finding top-k elements in data streams, Information Sciences 180,
 * 2010). Most keys of a flood therefore cost one addition. If another thread holds the lock, no call is lost, because the cell is
 * part of the upper bound.
 *
 * <p>The bounds hold for concurrent calls, because a cell is at least the count of each key that increments it and has no
 * counter. A cell also has the number of its keys with a counter. A new counter is published before it is added to this number and
 * its cell is read, in one step. A thread that increments a cell looks for a counter afterwards if the cell has one. A concurrent
 * call is therefore counted in the cell that is read, in the counter, or in both. If a key loses its counter, its cell is read
 * before the counter is closed, and is then raised by the difference. A thread counts again if it finds the counter closed, or if a
 * counter can have been opened and closed in between.
 */
final class SpaceSaving {
    /** The number of counters; a power of two. */
    static final int COUNTERS = 64;

    /** The greatest length of a key with a counter, which bounds the memory. Only application code can create longer keys. */
    static final int LONGEST = 1_024;

    private static final int CELLS = 1024;

    /** One key with a counter in the value of a cell, which has room for all counters. The bits below are the calls of the other keys. */
    private static final long OWNER = 1L << 56;

    private final Map<String, Counter> known = new ConcurrentHashMap<>(2 * COUNTERS);
    private final AtomicLongArray cells = new AtomicLongArray(CELLS);

    /** Guards the assignment of counters to keys. No thread waits for it to count a call. */
    private final ReentrantLock lock = new ReentrantLock();

    private final List<Counter> counters = new ArrayList<>(COUNTERS);
    private int next;

    /** A lower bound of all counters; 0 while a counter is free. */
    private volatile long least;

    /** The number of keys that have lost their counter. */
    private final AtomicInteger retired = new AtomicInteger();

    record Bounds(long atLeast, long atMost) {
        Bounds plus(Bounds other) {
            return new Bounds(atLeast + other.atLeast, atMost + other.atMost);
        }
    }

    /** The counter of one key, with its highest utilization. A subclass of the atomic number avoids an indirection for each call. */
    @SuppressWarnings("serial") // it is never serialized
    static final class Counter extends AtomicLong {
        private final String key;
        private final AtomicInteger highest = new AtomicInteger();

        /** The part of the first count that can belong to other keys. */
        private long error;

        private Counter(String key) {
            this.key = key;
        }

        /** Counts a call. Returns false if the counter is closed, because another key has its place. */
        boolean add() {
            return incrementAndGet() > 0;
        }

        void raise(int utilization) {
            if (utilization > highest.get()) {
                highest.accumulateAndGet(utilization, Math::max);
            }
        }

        private void open(long before) {
            error = before;
            addAndGet(before + 1);
        }

        private long close() {
            return getAndSet(Long.MIN_VALUE);
        }
    }

    /** Counts a call of a key that leaves a {@link Utilization}. Returns the counter of the key, null if it has none. */
    @Nullable
    Counter count(String key, int utilization) {
        int cell = cell(key.hashCode());
        Counter counter = counter(key, cells.get(cell));
        if (counter == null || !counter.add()) {
            counter = countInCell(key, cell);
        }
        if (counter != null) {
            counter.raise(utilization);
        }
        return counter;
    }

    /** Returns the counter of a key by the value of its cell. Most keys of a flood have none, and are not read. */
    private @Nullable Counter counter(String key, long cell) {
        return cell < OWNER ? null : known.get(key);
    }

    /** Counts a call of a key in its cell or in a counter, and returns the counter. */
    private @Nullable Counter countInCell(String key, int cell) {
        if (calls(cell) >= least && key.length() <= LONGEST && lock.tryLock()) {
            try {
                Counter taken = countInCounter(key, cell);
                if (taken != null) {
                    return taken;
                }
            } finally {
                lock.unlock();
            }
        }
        Counter counter;
        int before;
        do {
            before = retired.get();
            counter = counter(key, cells.incrementAndGet(cell));
        } while (counter == null ? before != retired.get() : !counter.add());
        return counter;
    }

    private long calls(int cell) {
        return cells.get(cell) & (OWNER - 1);
    }

    private static int cell(int hash) {
        return (hash ^ (hash >>> 16) ^ (hash >>> 9)) & (CELLS - 1);
    }

    /** Counts a call in a counter, if the key has one or can take over the least one. Returns null if the call is not counted. */
    private @Nullable Counter countInCounter(String key, int cell) {
        Counter existing = known.get(key);
        if (existing != null) {
            return existing.add() ? existing : null;
        }
        Counter counter = new Counter(key);
        if (counters.size() < COUNTERS) {
            counters.add(counter);
        } else {
            int place = placeOfLeast(calls(cell));
            if (place < 0) {
                return null;
            }
            retire(counters.set(place, counter));
        }
        known.put(key, counter);
        counter.open(cells.addAndGet(cell, OWNER) & (OWNER - 1));
        return counter;
    }

    /**
     * Returns the place of a least counter that does not exceed the count of a cell, −1 if all counters exceed it. The search
     * continues at the last place, because many counters are least in a flood.
     */
    private int placeOfLeast(long most) {
        long found = Long.MAX_VALUE;
        int place = -1;
        for (int i = 0; i < COUNTERS && found > least; i++) {
            int at = (next + i) & (COUNTERS - 1);
            long count = counters.get(at).get();
            if (count < found) {
                found = count;
                place = at;
            }
        }
        least = found;
        next = place + 1;
        return found <= most ? place : -1;
    }

    private void retire(Counter counter) {
        int cell = cell(counter.key.hashCode());
        long before = calls(cell);
        retired.incrementAndGet();
        known.remove(counter.key);
        cells.addAndGet(cell, Math.max(0, counter.close() - before) - OWNER);
    }

    List<String> keys() {
        return List.copyOf(known.keySet());
    }

    /** Returns the highest utilization of a key since it has its counter, 0 without one. */
    int utilization(String key) {
        Counter counter = known.get(key);
        return counter == null ? 0 : counter.highest.get();
    }

    /** Returns the bounds of the count of a key, with or without a counter. */
    Bounds bounds(String key) {
        lock.lock();
        try {
            Counter counter = known.get(key);
            if (counter == null) {
                return new Bounds(0, calls(cell(key.hashCode())));
            }
            long count = counter.get();
            return new Bounds(count - counter.error, count);
        } finally {
            lock.unlock();
        }
    }

    /** Returns the upper bound of the count of any key without a counter. */
    long maxOfOthers() {
        long most = 0;
        for (int i = 0; i < CELLS; i++) {
            most = Math.max(most, calls(i));
        }
        return most;
    }
}
