// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Limit;
import java.util.Optional;

/**
 * The approximate states of any number of keys under one limit, in constant memory: a count-min sketch with conservative update. Each key
 * has one cell in each row, at a column that its hash selects. Keys share cells, and the least cell of a key is its state. An update raises
 * the cells of a key to its new state and lowers none, so no key ever has less than it has spent. Source: C. Estan and G. Varghese, "New
 * directions in traffic measurement and accounting", 2002.
 *
 * <p>The caller of each method holds the lock of {@link LimitSketches}.
 */
abstract sealed class LimitSketch permits BucketSketch, CalendarSketch, WindowSketch {
    static final int ROWS = 4;

    /** A thread that waited for a lock can be late by less than this. An earlier instant is a clock that stepped back. */
    private static final long MAX_LATE_MICROS = 10_000_000;

    private final int columnBits;
    private long offsetMicros;
    private long latestMicros;

    LimitSketch(int columnBits) {
        this.columnBits = columnBits;
    }

    /**
     * Creates a sketch for a limit, and for all limits with the same {@linkplain LimitSketches.Id id}; empty for slots, because shared counts
     * have none to release.
     */
    static Optional<LimitSketch> of(Limit limit, int columnBits) {
        return limit.fold(
                window -> Optional.of(
                        window.isBucket() ? new BucketSketch(limit, columnBits) : new WindowSketch(limit, columnBits)),
                calendar -> Optional.of(new CalendarSketch(limit, calendar.period(), columnBits)),
                slots -> Optional.empty());
    }

    /** Returns the state of a key, which has spent at least the permits that the key has spent. */
    abstract LimitState read(long hash, Limit limit, long nowMicros);

    /** Spends a cost that the state of the key allows. */
    abstract void spend(long hash, Limit limit, long cost, long nowMicros);

    /** Returns whether the state of each key equals an untouched one. */
    abstract boolean isIdle(long nowMicros);

    final int columns() {
        return 1 << columnBits;
    }

    /** Returns the cell of a key in a row, as a position in an array of rows. The columns of several rows are independent. */
    final int cell(long hash, int row) {
        long mixed = hash + row * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ mixed >>> 30) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return (row << columnBits) + (int) ((mixed ^ mixed >>> 31) >>> (Long.SIZE - columnBits));
    }

    /** Returns the instant in the time of this sketch, which continues if the clock steps back. */
    final long instant(long nowMicros) {
        long instant = nowMicros + offsetMicros;
        if (instant < latestMicros - MAX_LATE_MICROS) {
            offsetMicros += latestMicros - instant;
            instant = latestMicros;
        }
        latestMicros = Math.max(latestMicros, instant);
        return instant;
    }

    static long ceilDiv(long dividend, long divisor) {
        return -Math.floorDiv(-dividend, divisor);
    }
}
