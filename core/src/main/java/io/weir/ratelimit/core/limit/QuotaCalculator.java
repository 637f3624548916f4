// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.ZonedDateTime;

/** The calculation of the quota of a key from the state of one limit. */
public final class QuotaCalculator {
    private QuotaCalculator() {}

    /**
     * Calculates a quota.
     *
     * @param charge the charge
     * @param index the position of the limit in the policy of the charge
     * @param state the state of the key at that instant, as {@link LimitState#asOf} returns it
     * @param spent whether the state includes the charge
     * @param nowMicros the instant, in microseconds
     * @return the quota
     */
    public static Quota quota(Charge charge, int index, LimitState state, boolean spent, long nowMicros) {
        if (state instanceof BlockedState blocked) {
            return blocked(quota(charge, index, blocked.state(), false, nowMicros), blocked.endMicros() - nowMicros);
        }
        PolicyLimits policy = charge.policy();
        Limit limit = policy.limits().get(index);
        long retryAfter = spent ? 0 : retryAfterMicros(charge, limit, state, nowMicros);
        long remaining = state.remaining(limit, nowMicros);
        boolean calendar = state instanceof CalendarState;
        return new Quota(
                policy.policy(),
                policy.limitName(index),
                limit.permits(),
                limit.capacity(),
                calendar ? CalendarState.bounds(limit, nowMicros).length() : limit.window(),
                remaining,
                retryAfter > 0,
                retryAfter,
                state.resetAfterMicros(limit, nowMicros),
                remaining < limit.capacity() ? state.retryAfterMicros(limit, remaining + 1, nowMicros) : 0,
                calendar ? periodEnd(limit, (CalendarState) state) : null);
    }

    /** Returns the quota of a blocked key. The limit and the block are waited for at the same time. */
    private static Quota blocked(Quota quota, long blockedMicros) {
        long untilPermit = quota.remaining() > 0 ? 0 : quota.nextPermitAfterMicros();
        return new Quota(
                quota.policy(),
                quota.name(),
                quota.permits(),
                quota.capacity(),
                quota.window(),
                0,
                true,
                Math.max(quota.retryAfterMicros(), blockedMicros),
                Math.max(quota.resetAfterMicros(), blockedMicros),
                quota.capacity() == 0 ? 0 : Math.max(untilPermit, blockedMicros),
                quota.periodEnd(),
                blockedMicros);
    }

    private static ZonedDateTime periodEnd(Limit limit, CalendarState state) {
        return CalendarBounds.dateTime(
                state.endMicros(), CalendarState.calendar(limit).zone());
    }

    /** Returns the wait until the charge is allowed, which is 0 if its slot is within its max-wait. */
    private static long retryAfterMicros(Charge charge, Limit limit, LimitState state, long nowMicros) {
        long wait = state.retryAfterMicros(limit, charge.cost(), nowMicros);
        return wait == Quota.NEVER
                ? wait
                : Math.max(0, wait - LimitState.maxDelayMicros(limit, charge.maxWaitMicros()));
    }
}
