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

/**
 * The keys that were seen most often, in fixed memory, with bounds of how often: Space-Saving (Metwally, Agrawal, El Abbadi:
 * Efficient Computation of Frequent and Top-k Elements in Data Streams, ICDT 2005). Of n sightings, each key with more than n /
 * {@value #COUNTERS} has a counter, whatever else is seen.
 *
 * <p>A key without a counter adds to one of the cells, which such keys share by their hash, and takes the counter of the key that was
 * seen least once its cell has reached that one's count (Homem, Carvalho: Finding top-k elements in data streams, Information
 * Sciences 180, 2010). So most keys of a flood cost one addition, and whoever finds the lock taken loses nothing: what is in the cell
 * is in the bound.
 *
 * <p>What makes the bounds hold under threads: a cell is at least the count of each key that adds to it and has no counter. A new
 * counter is to be found before its cell is read; who adds to a cell looks for a counter afterwards. So a sighting next to that
 * moment is in the cell that is read, or in the counter, or in both. The cell of a key that loses its counter is read before the
 * counter is closed, and raised by what it lacks: who finds the counter closed, or may have missed the life of one, adds again.
 */
final class SpaceSaving {
    /** How many keys are kept; a power of two. */
    static final int COUNTERS = 64;

    /** A key of more characters, which only code can make, has no counter: its memory would be in the hands of who made it. */
    static final int LONGEST = 1_024;

    private static final int CELLS = 512;

    private final Map<String, Counter> known = new ConcurrentHashMap<>(2 * COUNTERS);
    private final AtomicLongArray cells = new AtomicLongArray(CELLS);

    /** Guards who has a counter. Nobody waits for it to count. */
    private final ReentrantLock lock = new ReentrantLock();

    private final List<Counter> counters = new ArrayList<>(COUNTERS);
    private int next;

    /** No counter has less; 0 while there are counters to give away. */
    private volatile long least;

    /** How many keys have lost their counter. */
    private final AtomicInteger retired = new AtomicInteger();

    /** How often a key was seen: at least, and at most. */
    record Bounds(long atLeast, long atMost) {
        Bounds plus(Bounds other) {
            return new Bounds(atLeast + other.atLeast, atMost + other.atMost);
        }
    }

    /** An atomic number itself, since each sighting would pay for the way to another one. */
    @SuppressWarnings("serial") // it goes nowhere
    private static final class Counter extends AtomicLong {
        private final String key;

        /** What it was given when it was opened beside the sighting that opened it: some of it may be another key's. */
        private long error;

        private Counter(String key) {
            this.key = key;
        }

        /** False if it is closed: then another key has its place. */
        private boolean add() {
            return incrementAndGet() > 0;
        }

        private void open(long before) {
            error = before;
            addAndGet(before + 1);
        }

        private long close() {
            return getAndSet(Long.MIN_VALUE);
        }
    }

    /** Counts a sighting of a key. */
    void saw(String key) {
        Counter counter = known.get(key);
        if (counter == null || !counter.add()) {
            sawUnknown(key);
        }
    }

    private void sawUnknown(String key) {
        int cell = cell(key);
        if (cells.get(cell) >= least && key.length() <= LONGEST && lock.tryLock()) {
            try {
                if (allows(key, cell)) {
                    return;
                }
            } finally {
                lock.unlock();
            }
        }
        Counter counter;
        int before;
        do {
            before = retired.get();
            cells.incrementAndGet(cell);
            counter = known.get(key);
        } while (counter == null ? before != retired.get() : !counter.add());
    }

    private static int cell(String key) {
        int hash = key.hashCode();
        return (hash ^ (hash >>> 16) ^ (hash >>> 9)) & (CELLS - 1);
    }

    /** Counts a sighting in a counter, if the key has one or its cell holds more than the least one. */
    private boolean allows(String key, int cell) {
        Counter there = known.get(key);
        if (there != null) {
            return there.add();
        }
        Counter counter = new Counter(key);
        if (counters.size() < COUNTERS) {
            counters.add(counter);
        } else {
            int place = placeOfLeast(cells.get(cell));
            if (place < 0) {
                return false;
            }
            retire(counters.set(place, counter));
        }
        known.put(key, counter);
        counter.open(cells.get(cell));
        return true;
    }

    /** Where a counter is that has the least and no more than a cell, -1 if all have more. The search goes round, since in a flood many have the least. */
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
        int cell = cell(counter.key);
        long before = cells.get(cell);
        retired.incrementAndGet();
        known.remove(counter.key);
        cells.addAndGet(cell, Math.max(0, counter.close() - before));
    }

    /** The keys that have a counter. */
    List<String> keys() {
        return List.copyOf(known.keySet());
    }

    /** How often a key was seen, whether or not it has a counter. */
    Bounds bounds(String key) {
        lock.lock();
        try {
            Counter counter = known.get(key);
            if (counter == null) {
                return new Bounds(0, cells.get(cell(key)));
            }
            long count = counter.get();
            return new Bounds(count - counter.error, count);
        } finally {
            lock.unlock();
        }
    }

    /** How often any key without a counter was seen at most. */
    long mostOfOthers() {
        long most = 0;
        for (int i = 0; i < CELLS; i++) {
            most = Math.max(most, cells.get(i));
        }
        return most;
    }
}
