// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.TokenBucketState;
import io.weir.ratelimit.spi.Limit;

/**
 * A sketch of buckets. A cell is the instant at which the bucket of each of its keys is full, so nothing expires. A key that shares no
 * cell with another one has the state of its bucket, apart from rounding up.
 */
final class BucketSketch extends LimitSketch {
    /** The parts of a time unit. Each charge is rounded up to a part. */
    private static final int PARTS = 256;

    private final long[] full;
    private long latestFull;

    BucketSketch(Limit limit, int columnBits) {
        super(columnBits);
        this.full = new long[ROWS * columns()];
    }

    @Override
    LimitState read(long hash, Limit limit, long nowMicros) {
        long left = least(hash) - instant(nowMicros) / limit.unitMicros() * PARTS;
        if (left <= 0) {
            return LimitState.untouched(limit, nowMicros);
        }
        long maxDebt = TokenBucketState.maxDebt(limit);
        long maxLeft = ceilDiv(maxDebt * PARTS, limit.permits());
        // Rounding down does not reduce the debt below the spent permits, because each charge was rounded up.
        long debt = Math.min(left, maxLeft) * limit.permits() / PARTS;
        return new TokenBucketState(nowMicros, Math.min(debt, maxDebt), limit.unitExponent());
    }

    @Override
    void spend(long hash, Limit limit, long cost, long nowMicros) {
        long now = ceilDiv(instant(nowMicros), limit.unitMicros()) * PARTS;
        long spent = ceilDiv(cost * limit.windowUnits() * PARTS, limit.permits());
        long fullAgain = Math.max(least(hash), now) + spent;
        for (int row = 0; row < ROWS; row++) {
            int cell = cell(hash, row);
            full[cell] = Math.max(full[cell], fullAgain);
        }
        latestFull = Math.max(latestFull, fullAgain * limit.unitMicros());
    }

    @Override
    boolean isIdle(long nowMicros) {
        return latestFull <= instant(nowMicros) * PARTS;
    }

    private long least(long hash) {
        long least = Long.MAX_VALUE;
        for (int row = 0; row < ROWS; row++) {
            least = Math.min(least, full[cell(hash, row)]);
        }
        return least;
    }
}
