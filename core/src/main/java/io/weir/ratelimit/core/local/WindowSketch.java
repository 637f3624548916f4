// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Limit;
import java.util.Arrays;

/**
 * A sketch of windows and logs. Time is divided into slices of a quarter of the window, and each slice has its own counts. All permits of
 * the current slice and of the four slices before it count in full, so a key spends at most the limit in any span of one window. They
 * count for at most five quarters of a window.
 */
final class WindowSketch extends LimitSketch {
    private static final int SLICES_PER_WINDOW = 4;
    private static final int SLICES = SLICES_PER_WINDOW + 1;
    private static final int COUNT_BITS = 30;

    private final long sliceMicros;
    private final int shift;

    /** The counts of each slice. They are empty until the slice is first used, because to create all at once takes milliseconds. */
    private final int[][] counts = new int[SLICES][0];

    private final boolean[] used = new boolean[SLICES];
    private long newest = Long.MIN_VALUE;

    WindowSketch(Limit limit, int columnBits) {
        super(columnBits);
        this.sliceMicros = ceilDiv(limit.windowMicros(), SLICES_PER_WINDOW);
        this.shift = shift(limit);
    }

    /** Returns the unit of the counts as a power of two in permits: 0 for limits below 2<sup>30</sup>. Charges are rounded up to it. */
    static int shift(Limit limit) {
        return Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(limit.permits()) - COUNT_BITS);
    }

    @Override
    LimitState read(long hash, Limit limit, long nowMicros) {
        long instant = rotate(nowMicros);
        long spent = 0;
        int age = SLICES;
        int newestSlice = slice(newest);
        for (int back = SLICES - 1; back >= 0; back--) {
            int slice = newestSlice >= back ? newestSlice - back : newestSlice - back + SLICES;
            int count = used[slice] ? least(slice, hash) : 0;
            spent += count;
            age = count > 0 ? back : age;
        }
        if (spent == 0) {
            return LimitState.untouched(limit, nowMicros);
        }
        // The latest permits were spent before the end of their slice.
        long end = Math.min(instant, (newest - age + 1) * sliceMicros);
        long start = nowMicros - (instant - end);
        return LimitState.untouched(limit, start)
                .spend(limit, Math.min(spent << shift, limit.permits()), start)
                .asOf(limit, nowMicros);
    }

    @Override
    void spend(long hash, Limit limit, long cost, long nowMicros) {
        rotate(nowMicros);
        int slice = slice(newest);
        used[slice] = true;
        if (counts[slice].length == 0) {
            counts[slice] = new int[ROWS * columns()];
        }
        int count = least(slice, hash) + (int) ceilDiv(cost, 1L << shift);
        for (int row = 0; row < ROWS; row++) {
            int cell = cell(hash, row);
            counts[slice][cell] = Math.max(counts[slice][cell], count);
        }
    }

    @Override
    boolean isIdle(long nowMicros) {
        rotate(nowMicros);
        for (boolean counted : used) {
            if (counted) {
                return false;
            }
        }
        return true;
    }

    /** Clears the slices that no longer count, and returns the instant in the time of this sketch. */
    private long rotate(long nowMicros) {
        long instant = instant(nowMicros);
        long current = Math.max(newest, instant / sliceMicros);
        for (long next = Math.max(newest + 1, current - SLICES + 1); next <= current; next++) {
            clear(slice(next));
        }
        newest = current;
        return instant;
    }

    private void clear(int slice) {
        if (used[slice]) {
            used[slice] = false;
            Arrays.fill(counts[slice], 0);
        }
    }

    private int least(int slice, long hash) {
        int least = Integer.MAX_VALUE;
        for (int row = 0; row < ROWS; row++) {
            least = Math.min(least, counts[slice][cell(hash, row)]);
        }
        return least;
    }

    private static int slice(long index) {
        return (int) Math.floorMod(index, (long) SLICES);
    }
}
