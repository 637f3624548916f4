// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.CalendarBounds;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;
import java.util.Arrays;

/** A sketch of a calendar limit, which counts the permits of the current period and begins anew with the next one. */
final class CalendarSketch extends LimitSketch {
    private final CalendarPeriod period;
    private final int shift;
    private final int[] counts;
    private boolean used;
    private long startMicros = Long.MIN_VALUE;

    CalendarSketch(Limit limit, CalendarPeriod period, int columnBits) {
        super(columnBits);
        this.period = period;
        this.shift = WindowSketch.shift(limit);
        this.counts = new int[ROWS * columns()];
    }

    @Override
    LimitState read(long hash, Limit limit, long nowMicros) {
        advance(nowMicros);
        long spent = Math.min((long) least(hash) << shift, limit.permits());
        LimitState untouched = LimitState.untouched(limit, nowMicros);
        return spent == 0 ? untouched : untouched.spend(limit, spent, nowMicros);
    }

    @Override
    void spend(long hash, Limit limit, long cost, long nowMicros) {
        advance(nowMicros);
        used = true;
        int count = least(hash) + (int) ceilDiv(cost, 1L << shift);
        for (int row = 0; row < ROWS; row++) {
            int cell = cell(hash, row);
            counts[cell] = Math.max(counts[cell], count);
        }
    }

    @Override
    boolean isIdle(long nowMicros) {
        advance(nowMicros);
        return !used;
    }

    /** Clears the counts of an earlier period. After a step back of the clock, those of a later period count. */
    private void advance(long nowMicros) {
        long start = CalendarBounds.at(period, nowMicros).startMicros();
        if (start > startMicros) {
            startMicros = start;
            if (used) {
                used = false;
                Arrays.fill(counts, 0);
            }
        }
    }

    private int least(long hash) {
        int least = Integer.MAX_VALUE;
        for (int row = 0; row < ROWS; row++) {
            least = Math.min(least, counts[cell(hash, row)]);
        }
        return least;
    }
}
