// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.SipHash;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.WindowLimit;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The sketches of the limits whose new keys found the table full. A sketch is created when it is first needed, and removed when it counts
 * nothing. Their number and size are bounded.
 */
final class LimitSketches {
    static final int MAX_SKETCHES = 32;

    private static final int KEYS_PER_COLUMN = 8;
    private static final int MIN_COLUMN_BITS = 10;
    private static final int MAX_COLUMN_BITS = 17;

    /**
     * The limits that share a sketch, also those of several tiers. Keys with an anchor or a zone of their own have calendars of their own.
     */
    record Id(StateKey limit, int unit, Optional<CalendarPeriod> period) {
        static Id of(StateKey key, Limit limit) {
            boolean bucket = limit instanceof WindowLimit window && window.isBucket();
            Optional<CalendarPeriod> period =
                    limit instanceof CalendarLimit calendar ? Optional.of(calendar.period()) : Optional.empty();
            return new Id(key.ofAllKeys(), bucket ? limit.unitExponent() : WindowSketch.shift(limit), period);
        }
    }

    private final SipHash hash;
    private final int columnBits;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Id, LimitSketch> sketches = new HashMap<>();
    private volatile boolean empty = true;

    /** Creates an empty set. The bound of the table determines the size of a sketch. */
    LimitSketches(int maxKeys, SipHash hash) {
        this.hash = hash;
        this.columnBits = columnBits(maxKeys);
    }

    /** Returns the logarithm of the number of columns: the power of two from an eighth of the keys on, 1,024 to 131,072. */
    static int columnBits(int maxKeys) {
        int bits = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(1, maxKeys / KEYS_PER_COLUMN) - 1);
        return Math.min(MAX_COLUMN_BITS, Math.max(MIN_COLUMN_BITS, bits));
    }

    /** Holds the sketches for several operations. A thread that holds them acquires no other lock. */
    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    boolean isEmpty() {
        return empty;
    }

    /** Returns the state of a key that is not in the table. */
    LimitState read(StateKey key, Limit limit, long nowMicros) {
        lock.lock();
        try {
            LimitSketch sketch = sketches.get(Id.of(key, limit));
            return sketch == null || limit.permits() == 0
                    ? LimitState.untouched(limit, nowMicros)
                    : sketch.read(hash.hash(key.storedKey()), limit, nowMicros);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Creates the sketch of a limit unless it exists. Returns false if there are too many, or for a concurrency limit. The caller holds the
     * lock.
     */
    boolean create(StateKey key, Limit limit, long nowMicros) {
        Id id = Id.of(key, limit);
        if (sketches.containsKey(id)) {
            return true;
        }
        if (sketches.size() >= MAX_SKETCHES) {
            removeIdle(nowMicros);
        }
        if (sketches.size() >= MAX_SKETCHES) {
            return false;
        }
        LimitSketch.of(limit, columnBits).ifPresent(sketch -> sketches.put(id, sketch));
        empty = sketches.isEmpty();
        return sketches.containsKey(id);
    }

    /** Spends a cost of a key whose sketch exists. The caller holds the lock. */
    void spend(StateKey key, Limit limit, long cost, long nowMicros) {
        LimitSketch sketch = Objects.requireNonNull(sketches.get(Id.of(key, limit)));
        sketch.spend(hash.hash(key.storedKey()), limit, cost, nowMicros);
    }

    /** Removes the sketches that count nothing. */
    void removeIdle(long nowMicros) {
        lock.lock();
        try {
            sketches.values().removeIf(sketch -> sketch.isIdle(nowMicros));
            empty = sketches.isEmpty();
        } finally {
            lock.unlock();
        }
    }
}
