// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.time.Duration;

/** A limit of calls that may run at once. {@link Limit#concurrency} creates it. Its {@link #window()} is the timeout of a slot. */
public final class ConcurrencyLimit extends Limit {
    ConcurrencyLimit(long calls, Duration timeout, Duration maxWait) {
        super(checked(calls), calls, checkedWindow(timeout), checkedMaxWait(maxWait), timeOf(timeout));
    }

    private static long checked(long calls) {
        if (calls > MAX_CONCURRENCY) {
            throw new IllegalArgumentException("concurrency must be from 0 to " + MAX_CONCURRENCY);
        }
        return checkedPermits(calls, "permits");
    }

    @Override
    public ConcurrencyLimit withMaxWait(Duration wait) {
        return new ConcurrencyLimit(permits(), window(), wait);
    }

    @Override
    public ConcurrencyLimit withPermits(long other) {
        return concurrency(other, window());
    }

    @Override
    public String windowText() {
        return "concurrent";
    }

    @Override
    Object kindOf() {
        return windowText();
    }

    @Override
    public String toString() {
        return permits() + " concurrent";
    }
}
