// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Quota;

/**
 * The sliding window counter: {@code current + previous × (1 − elapsed) + cost ≤ n}, in whole numbers.
 *
 * @param startMicros when this window started
 * @param current permits spent in this window
 * @param previous permits spent in the window before
 */
public record SlidingWindowState(long startMicros, long current, long previous) implements LimitState {

    @Override
    public SlidingWindowState at(Limit limit, long nowMicros) {
        long n = limit.permits();
        long start = Math.min(startMicros, nowMicros);
        long cur = Math.min(current, n);
        long prev = Math.min(previous, n);
        if (nowMicros - start >= limit.windowMicros()) {
            prev = nowMicros - start < 2 * limit.windowMicros() ? cur : 0;
            cur = 0;
            start += limit.windowMicros();
        }
        if (cur == 0 && prev == 0) {
            start = nowMicros;
        }
        return start == startMicros && cur == current && prev == previous
                ? this
                : new SlidingWindowState(start, cur, prev);
    }

    @Override
    public boolean isAfter(long nowMicros) {
        return startMicros > nowMicros;
    }

    @Override
    public boolean fits(Limit limit, long cost, long nowMicros) {
        long n = limit.permits();
        return cost <= n - current
                && previous * unitsLeft(limit, nowMicros) <= (n - current - cost) * limit.windowUnits();
    }

    @Override
    public SlidingWindowState spend(Limit limit, long cost, long nowMicros) {
        return new SlidingWindowState(startMicros, current + cost, previous);
    }

    @Override
    public long remaining(Limit limit, long nowMicros) {
        long weighted = ceilDiv(previous * unitsLeft(limit, nowMicros), limit.windowUnits());
        return Math.max(0, limit.permits() - current - weighted);
    }

    @Override
    public long waitMicros(Limit limit, long cost, long nowMicros) {
        if (cost > limit.capacity()) {
            return Quota.NEVER;
        }
        if (fits(limit, cost, nowMicros)) {
            return 0;
        }
        long sinceStart = nowMicros - startMicros;
        long room = limit.permits() - cost;
        if (current <= room) {
            return roomAt(limit, room - current, previous) - sinceStart;
        }
        return limit.windowMicros() + roomAt(limit, room, current) - sinceStart;
    }

    @Override
    public long resetMicros(Limit limit, long nowMicros) {
        long windows = current > 0 ? 2 : previous > 0 ? 1 : 0;
        return windows == 0 ? 0 : startMicros + windows * limit.windowMicros() - nowMicros;
    }

    @Override
    public SlidingWindowState giveBack(Limit limit, LimitState charged, long cost, long nowMicros) {
        if (charged instanceof SlidingWindowState then) {
            if (then.startMicros == startMicros) {
                return new SlidingWindowState(startMicros, Math.max(0, current - cost), previous);
            }
            if (then.startMicros + limit.windowMicros() == startMicros) {
                return new SlidingWindowState(startMicros, current, Math.max(0, previous - cost));
            }
        }
        return this;
    }

    @Override
    public SlidingWindowState giveBack(Limit limit, long cost) {
        long fromCurrent = Math.min(current, cost);
        return new SlidingWindowState(startMicros, current - fromCurrent, Math.max(0, previous - (cost - fromCurrent)));
    }

    private long unitsLeft(Limit limit, long nowMicros) {
        return limit.windowUnits() - (nowMicros - startMicros) / limit.unitMicros();
    }

    /** When, in microseconds after a window's start, no more than {@code room} of the permits spent before it still count. */
    private static long roomAt(Limit limit, long room, long spentBefore) {
        long unitsLeft = spentBefore <= room ? limit.windowUnits() : room * limit.windowUnits() / spentBefore;
        return (limit.windowUnits() - unitsLeft) * limit.unitMicros();
    }

    private static long ceilDiv(long dividend, long divisor) {
        return (dividend + divisor - 1) / divisor;
    }
}
