// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.CalendarLimit;
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
     * @param index the position of the limit in the policy of the charge
     * @param state the state of the key at that instant, as {@link LimitState#asOf} returns it
     * @param spent whether the state includes the charge
     * @param nowMicros the instant, in microseconds
     */
    public static Quota quota(Charge charge, int index, LimitState state, boolean spent, long nowMicros) {
        if (state instanceof BlockedState blocked) {
            return blocked(quota(charge, index, blocked.state(), false, nowMicros), blocked.endMicros() - nowMicros);
        }
        PolicyLimits policy = charge.policy();
        Limit limit = policy.limits().get(index);
        long retryAfter = spent ? 0 : retryAfterMicros(charge, limit, state, nowMicros);
        long remaining = state.remaining(limit, nowMicros);
        Quota.Builder quota = limit(Quota.builder(policy.policy(), policy.limitName(index)), limit, state, nowMicros)
                .capacity(limit.capacity())
                .remaining(remaining)
                .resetAfter(Micros.duration(state.resetAfterMicros(limit, nowMicros)));
        if (remaining < limit.capacity()) {
            quota.nextPermitAfter(Micros.duration(nextPermitAfterMicros(limit, state, remaining, nowMicros)));
        }
        return (retryAfter > 0 ? Micros.rejectedFor(quota, retryAfter) : quota).build();
    }

    private static Quota.Builder limit(Quota.Builder quota, Limit limit, LimitState state, long nowMicros) {
        return limit.fold(
                window -> quota.window(window.permits(), window.window()),
                calendar -> quota.calendar(
                        calendar.permits(),
                        CalendarState.bounds(calendar, nowMicros).length(),
                        periodEnd(calendar, (CalendarState) state)),
                slots -> quota.concurrency(slots.permits()));
    }

    /** Returns the quota of a blocked key. The limit and the block are waited for at the same time. */
    private static Quota blocked(Quota quota, long blockedMicros) {
        long untilPermit = quota.remaining() > 0 ? 0 : Micros.nextPermitAfter(quota);
        long nextPermit = quota.capacity() == 0 ? 0 : Math.max(untilPermit, blockedMicros);
        return Micros.rejectedFor(quota.toBuilder(), Math.max(Micros.retryAfter(quota), blockedMicros))
                .remaining(0)
                .resetAfter(Micros.duration(Math.max(Micros.resetAfter(quota), blockedMicros)))
                .nextPermitAfter(Micros.duration(nextPermit))
                .blockedFor(Micros.duration(blockedMicros))
                .build();
    }

    private static long nextPermitAfterMicros(Limit limit, LimitState state, long remaining, long nowMicros) {
        return state instanceof ConcurrencyState slots
                ? slots.untilFreeMicros(nowMicros)
                : state.retryAfterMicros(limit, remaining + 1, nowMicros);
    }

    private static ZonedDateTime periodEnd(CalendarLimit limit, CalendarState state) {
        return CalendarBounds.dateTime(state.endMicros(), limit.period().zone());
    }

    /** Returns the wait until the charge is allowed, which is 0 if its slot is within its max-wait. */
    private static long retryAfterMicros(Charge charge, Limit limit, LimitState state, long nowMicros) {
        long wait = state.retryAfterMicros(limit, charge.cost(), nowMicros);
        return wait == Micros.NEVER
                ? wait
                : Math.max(0, wait - LimitState.maxDelayMicros(limit, charge.maxWaitMicros()));
    }
}
