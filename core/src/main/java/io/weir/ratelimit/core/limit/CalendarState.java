// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;

/**
 * The state of a calendar limit. The permits count until the end of the period, and then all return at once. They count in the period of
 * the latest charge, so a changed zone or anchor keeps them: until the earlier end of the former and the new period.
 *
 * @param firstMicros the instant of the first charge that counts, in microseconds of the backend's clock
 * @param inDebt whether a settlement has charged more permits than the limit has
 */
public record CalendarState(long firstMicros, long spent, long latestMicros, long endMicros, boolean inDebt)
        implements LimitState {

    /** Returns the state of a key that was never charged. */
    static CalendarState untouched(Limit limit, long nowMicros) {
        return new CalendarState(
                nowMicros, 0, nowMicros, bounds(limit, nowMicros).endMicros(), false);
    }

    /** Returns the period of a calendar limit at an instant. */
    static CalendarBounds bounds(Limit limit, long nowMicros) {
        return CalendarBounds.at(calendar(limit), nowMicros);
    }

    static CalendarPeriod calendar(Limit limit) {
        return ((CalendarLimit) limit).period();
    }

    @Override
    public CalendarState asOf(Limit limit, long nowMicros) {
        CalendarBounds period = bounds(limit, nowMicros);
        long most = inDebt ? LimitState.mostPermits(limit) : limit.permits();
        long counted = nowMicros < endMicros && latestMicros >= period.startMicros() ? Math.min(spent, most) : 0;
        if (counted == 0) {
            return untouched(limit, nowMicros);
        }
        CalendarState state = new CalendarState(
                Math.min(firstMicros, nowMicros),
                counted,
                Math.min(latestMicros, nowMicros),
                Math.min(endMicros, period.endMicros()),
                inDebt && counted > limit.permits());
        return state.equals(this) ? this : state;
    }

    @Override
    public boolean isAfter(long nowMicros) {
        return latestMicros > nowMicros;
    }

    @Override
    public boolean hasRoom(Limit limit, long cost, long nowMicros) {
        return cost <= limit.permits() - spent;
    }

    @Override
    public CalendarState spend(Limit limit, long cost, long nowMicros) {
        return new CalendarState(
                firstMicros, spent + cost, nowMicros, bounds(limit, nowMicros).endMicros(), inDebt);
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
        return hasRoom(limit, cost, nowMicros) ? 0 : endMicros - nowMicros;
    }

    @Override
    public long resetAfterMicros(Limit limit, long nowMicros) {
        return spent == 0 ? 0 : endMicros - nowMicros;
    }

    /** {@inheritDoc} A charge counts if it is not earlier than the first charge that counts. */
    @Override
    public CalendarState refund(Limit limit, LimitState charged, long cost, long nowMicros) {
        return counts(charged) ? reduced(cost) : this;
    }

    @Override
    public CalendarState refund(Limit limit, long cost) {
        return reduced(cost);
    }

    private CalendarState reduced(long cost) {
        return new CalendarState(firstMicros, Math.max(0, spent - cost), latestMicros, endMicros, inDebt);
    }

    /** {@inheritDoc} A charge counts as for a refund, until the end of the period. */
    @Override
    public CalendarState raise(Limit limit, LimitState charged, long more, long nowMicros) {
        if (!counts(charged) || nowMicros >= endMicros) {
            return this;
        }
        long raised = LimitState.raised(limit, spent, more);
        return raised == spent
                ? this
                : new CalendarState(firstMicros, raised, latestMicros, endMicros, inDebt || raised > limit.permits());
    }

    private boolean counts(LimitState charged) {
        return charged instanceof CalendarState then && then.latestMicros >= firstMicros;
    }
}
