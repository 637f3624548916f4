// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.Limit;

/**
 * The state of a sliding window counter, which estimates the permits of a rolling window from two consecutive windows: a limit of
 * n permits has room if {@code current + previous × (1 − elapsed) + cost ≤ n}, where {@code elapsed} is the elapsed part of the
 * current window. All arithmetic uses whole numbers. Source: "How we built rate limiting capable of scaling to millions of
 * domains", Cloudflare, 2017.
 *
 * @param startMicros the start of the current window, in microseconds of the backend's clock
 * @param previous the permits spent in the window before it
 * @param inDebt whether a settlement has charged more permits to one of both windows than the limit has
 */
public record SlidingWindowState(long startMicros, long current, long previous, boolean inDebt) implements LimitState {

    /** Creates a state without debt. */
    public SlidingWindowState(long startMicros, long current, long previous) {
        this(startMicros, current, previous, false);
    }

    @Override
    public SlidingWindowState asOf(Limit limit, long nowMicros) {
        long n = limit.permits();
        long most = inDebt ? LimitState.mostPermits(limit) : n;
        long start = Math.min(startMicros, nowMicros);
        long cur = Math.min(current, most);
        long prev = Math.min(previous, most);
        if (nowMicros - start >= limit.windowMicros()) {
            prev = nowMicros - start < 2 * limit.windowMicros() ? cur : 0;
            cur = 0;
            start += limit.windowMicros();
        }
        if (cur == 0 && prev == 0) {
            start = nowMicros;
        }
        boolean debt = inDebt && (cur > n || prev > n);
        return start == startMicros && cur == current && prev == previous && debt == inDebt
                ? this
                : new SlidingWindowState(start, cur, prev, debt);
    }

    @Override
    public boolean isAfter(long nowMicros) {
        return startMicros > nowMicros;
    }

    @Override
    public boolean hasRoom(Limit limit, long cost, long nowMicros) {
        long n = limit.permits();
        // Without a previous window, nothing needs to be divided.
        return cost <= n - current
                && (previous == 0
                        || previous * unitsLeft(limit, nowMicros) <= (n - current - cost) * limit.windowUnits());
    }

    @Override
    public SlidingWindowState spend(Limit limit, long cost, long nowMicros) {
        return new SlidingWindowState(startMicros, current + cost, previous, inDebt);
    }

    @Override
    public long remaining(Limit limit, long nowMicros) {
        long previousPart = previous == 0 ? 0 : ceilDiv(previous * unitsLeft(limit, nowMicros), limit.windowUnits());
        return Math.max(0, limit.permits() - current - previousPart);
    }

    @Override
    public long retryAfterMicros(Limit limit, long cost, long nowMicros) {
        if (cost > limit.capacity()) {
            return Micros.NEVER;
        }
        if (hasRoom(limit, cost, nowMicros)) {
            return 0;
        }
        long sinceStart = nowMicros - startMicros;
        long room = limit.permits() - cost;
        if (current <= room) {
            return microsUntilRoom(limit, room - current, previous) - sinceStart;
        }
        return limit.windowMicros() + microsUntilRoom(limit, room, current) - sinceStart;
    }

    @Override
    public long resetAfterMicros(Limit limit, long nowMicros) {
        long windows = current > 0 ? 2 : previous > 0 ? 1 : 0;
        return windows == 0 ? 0 : startMicros + windows * limit.windowMicros() - nowMicros;
    }

    @Override
    public SlidingWindowState refund(Limit limit, LimitState charged, long cost, long nowMicros) {
        if (charged instanceof SlidingWindowState then) {
            if (then.startMicros == startMicros) {
                return new SlidingWindowState(startMicros, Math.max(0, current - cost), previous, inDebt);
            }
            if (then.startMicros + limit.windowMicros() == startMicros) {
                return new SlidingWindowState(startMicros, current, Math.max(0, previous - cost), inDebt);
            }
        }
        return this;
    }

    @Override
    public SlidingWindowState refund(Limit limit, long cost) {
        long fromCurrent = Math.min(current, cost);
        return new SlidingWindowState(
                startMicros, current - fromCurrent, Math.max(0, previous - (cost - fromCurrent)), inDebt);
    }

    @Override
    public SlidingWindowState raise(Limit limit, LimitState charged, long more, long nowMicros) {
        if (!(charged instanceof SlidingWindowState then) || nowMicros - then.startMicros >= 2 * limit.windowMicros()) {
            return this;
        }
        long cur = then.startMicros == startMicros ? LimitState.raised(limit, current, more) : current;
        long prev = then.startMicros + limit.windowMicros() == startMicros
                ? LimitState.raised(limit, previous, more)
                : previous;
        boolean debt = inDebt || cur > limit.permits() || prev > limit.permits();
        return cur == current && prev == previous ? this : new SlidingWindowState(startMicros, cur, prev, debt);
    }

    private long unitsLeft(Limit limit, long nowMicros) {
        return limit.windowUnits() - (nowMicros - startMicros) / limit.unitMicros();
    }

    /** Returns the microseconds from the start of a window until at most {@code room} of the previous window's permits count. */
    private static long microsUntilRoom(Limit limit, long room, long previous) {
        long unitsLeft = previous <= room ? limit.windowUnits() : room * limit.windowUnits() / previous;
        return (limit.windowUnits() - unitsLeft) * limit.unitMicros();
    }

    private static long ceilDiv(long dividend, long divisor) {
        return (dividend + divisor - 1) / divisor;
    }
}
