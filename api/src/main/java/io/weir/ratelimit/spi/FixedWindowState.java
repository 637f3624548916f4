// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Quota;

/**
 * The fixed window: a count and the instant of its first call. What was spent counts until the window has passed, and then
 * all of it returns at once.
 *
 * @param startMicros when the window started
 * @param spent permits spent in it
 */
public record FixedWindowState(long startMicros, long spent) implements LimitState {

    @Override
    public FixedWindowState at(Limit limit, long nowMicros) {
        long start = Math.min(startMicros, nowMicros);
        long counted = nowMicros - start < limit.windowMicros() ? Math.min(spent, limit.permits()) : 0;
        if (counted == 0) {
            start = nowMicros;
        }
        return start == startMicros && counted == spent ? this : new FixedWindowState(start, counted);
    }

    @Override
    public boolean isAfter(long nowMicros) {
        return startMicros > nowMicros;
    }

    @Override
    public boolean fits(Limit limit, long cost, long nowMicros) {
        return cost <= limit.permits() - spent;
    }

    @Override
    public FixedWindowState spend(Limit limit, long cost, long nowMicros) {
        return new FixedWindowState(startMicros, spent + cost);
    }

    @Override
    public long remaining(Limit limit, long nowMicros) {
        return limit.permits() - spent;
    }

    @Override
    public long waitMicros(Limit limit, long cost, long nowMicros) {
        if (cost > limit.capacity()) {
            return Quota.NEVER;
        }
        return fits(limit, cost, nowMicros) ? 0 : untilItsEnd(limit, nowMicros);
    }

    @Override
    public long resetMicros(Limit limit, long nowMicros) {
        return spent == 0 ? 0 : untilItsEnd(limit, nowMicros);
    }

    @Override
    public FixedWindowState giveBack(Limit limit, LimitState charged, long cost, long nowMicros) {
        return charged instanceof FixedWindowState then && then.startMicros == startMicros ? less(cost) : this;
    }

    @Override
    public FixedWindowState giveBack(Limit limit, long cost) {
        return less(cost);
    }

    private FixedWindowState less(long cost) {
        return new FixedWindowState(startMicros, Math.max(0, spent - cost));
    }

    private long untilItsEnd(Limit limit, long nowMicros) {
        return startMicros + limit.windowMicros() - nowMicros;
    }
}
