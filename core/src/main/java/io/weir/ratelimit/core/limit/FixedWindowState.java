// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.Limit;

/**
 * The state of a fixed window, which starts at the first call of a key. The permits spent in the window count until its end, and then all
 * return at once. A settlement that charges more permits than the limit has leaves a debt.
 */
public record FixedWindowState(long startMicros, long spent, boolean inDebt) implements LimitState {

    /** Creates a state without debt. */
    public FixedWindowState(long startMicros, long spent) {
        this(startMicros, spent, false);
    }

    @Override
    public FixedWindowState asOf(Limit limit, long nowMicros) {
        long start = Math.min(startMicros, nowMicros);
        long most = inDebt ? LimitState.mostPermits(limit) : limit.permits();
        long counted = nowMicros - start < limit.windowMicros() ? Math.min(spent, most) : 0;
        if (counted == 0) {
            start = nowMicros;
        }
        boolean debt = inDebt && counted > limit.permits();
        return start == startMicros && counted == spent && debt == inDebt
                ? this
                : new FixedWindowState(start, counted, debt);
    }

    @Override
    public boolean isAfter(long nowMicros) {
        return startMicros > nowMicros;
    }

    @Override
    public boolean hasRoom(Limit limit, long cost, long nowMicros) {
        return cost <= limit.permits() - spent;
    }

    @Override
    public FixedWindowState spend(Limit limit, long cost, long nowMicros) {
        return new FixedWindowState(startMicros, spent + cost, inDebt);
    }

    @Override
    public long remaining(Limit limit, long nowMicros) {
        return Math.max(0, limit.permits() - spent);
    }

    @Override
    public long retryAfterMicros(Limit limit, long cost, long nowMicros) {
        if (cost > limit.capacity()) {
            return Micros.NEVER;
        }
        return hasRoom(limit, cost, nowMicros) ? 0 : untilEnd(limit, nowMicros);
    }

    @Override
    public long resetAfterMicros(Limit limit, long nowMicros) {
        return spent == 0 ? 0 : untilEnd(limit, nowMicros);
    }

    @Override
    public FixedWindowState refund(Limit limit, LimitState charged, long cost, long nowMicros) {
        return charged instanceof FixedWindowState then && then.startMicros == startMicros ? reduced(cost) : this;
    }

    @Override
    public FixedWindowState refund(Limit limit, long cost) {
        return reduced(cost);
    }

    private FixedWindowState reduced(long cost) {
        return new FixedWindowState(startMicros, Math.max(0, spent - cost), inDebt);
    }

    @Override
    public FixedWindowState raise(Limit limit, LimitState charged, long more, long nowMicros) {
        if (!(charged instanceof FixedWindowState then)
                || then.startMicros != startMicros
                || nowMicros - startMicros >= limit.windowMicros()) {
            return this;
        }
        long raised = LimitState.raised(limit, spent, more);
        return raised == spent ? this : new FixedWindowState(startMicros, raised, inDebt || raised > limit.permits());
    }

    private long untilEnd(Limit limit, long nowMicros) {
        return startMicros + limit.windowMicros() - nowMicros;
    }
}
