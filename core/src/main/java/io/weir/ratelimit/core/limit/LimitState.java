// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.WindowLimit;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The state of one key under one limit, with the arithmetic of the limit's algorithm. Immutable.
 *
 * <p>The state does not contain the limit, so a changed limit applies from the next call. If more permits are spent than a lowered
 * limit has, windows and buckets count them as the whole limit; a log counts them in full. If a settlement has charged more permits than
 * a limit has, the key is in debt: they count in full, up to {@link #mostPermits}.
 *
 * <p>Unless stated otherwise, a method expects the state as {@link #asOf} returns it for the same instant. All instants are in
 * microseconds of the backend's clock.
 */
public sealed interface LimitState
        permits FixedWindowState,
                CalendarState,
                ConcurrencyState,
                SlidingWindowState,
                SlidingLogState,
                TokenBucketState,
                BlockedState {

    /** Returns the state of a key that was never charged. */
    static LimitState untouched(Limit limit, long nowMicros) {
        return limit.fold(
                window -> untouched(window, nowMicros),
                calendar -> CalendarState.untouched(calendar, nowMicros),
                slots -> ConcurrencyState.untouched());
    }

    private static LimitState untouched(WindowLimit limit, long nowMicros) {
        return switch (limit.algorithm()) {
            case FIXED_WINDOW -> new FixedWindowState(nowMicros, 0);
            case SLIDING_WINDOW -> new SlidingWindowState(nowMicros, 0, 0);
            case TOKEN_BUCKET, LEAKY_BUCKET -> new TokenBucketState(nowMicros, 0, limit.unitExponent());
            case SLIDING_LOG -> SlidingLogState.EMPTY;
        };
    }

    /** Tests whether all permits of a limit return at once, at the end of a window or of a period of the calendar. */
    static boolean isFixed(Limit limit) {
        return limit.fold(window -> window.uses(Algorithm.FIXED_WINDOW), calendar -> true, concurrency -> false);
    }

    /**
     * Returns this state as of an instant: without the windows that have passed, and with the permits that have returned. If the
     * state is later than the instant because the clock stepped back, the result starts at the instant.
     */
    LimitState asOf(Limit limit, long nowMicros);

    /**
     * Tests whether this stored state is later than an instant, because the clock stepped back. A backend then stores the state as of the
     * instant, also on a rejection. Otherwise the retry-after of later rejections would not decrease.
     */
    boolean isAfter(long nowMicros);

    /** Tests whether a cost, 1 or more, can be spent. */
    boolean hasRoom(Limit limit, long cost, long nowMicros);

    /** Returns the number of the slot that the latest call has taken; 0 for the other kinds of limits. */
    default long taken() {
        return 0;
    }

    /** Returns a stored state after steps of the clock of this process. The ends of slots move with the clock; other states follow it. */
    static LimitState afterSteps(LimitState stored, LongSupplier steppedMicros) {
        return stored instanceof ConcurrencyState slots ? slots.afterSteps(steppedMicros.getAsLong()) : stored;
    }

    /** Returns a state for a receipt. The receipts of all calls of a key would need a copy of all its slots. */
    static LimitState forReceipt(LimitState spent) {
        return spent instanceof ConcurrencyState slots ? slots.summary() : spent;
    }

    /** Returns the state of a limit of a key that can be blocked; the state itself if the block has ended, or if its end is 0. */
    static LimitState blocked(LimitState state, long endMicros, long nowMicros) {
        return endMicros > nowMicros ? new BlockedState(state, endMicros) : state;
    }

    /** Returns the length of a block, as {@link BlockedState#micros(Duration)} does. */
    static long blockMicros(Duration duration) {
        return BlockedState.micros(duration);
    }

    /** Tests whether the key is blocked. */
    default boolean isBlocked() {
        return false;
    }

    /** Returns a state as it is without a block of its key. */
    static LimitState unblocked(LimitState state) {
        return state instanceof BlockedState blocked ? blocked.state() : state;
    }

    /**
     * Returns how long before the return of its permits a call can be charged; 0 for windows, which charge no call in advance.
     *
     * @param maxWaitMicros how long the call may wait, in microseconds, 0 or more
     */
    static long maxDelayMicros(Limit limit, long maxWaitMicros) {
        return maxWaitMicros == 0 ? 0 : Math.min(maxWaitMicros, maxDelayMicros(limit));
    }

    /**
     * Returns how long before the return of its permits a call can be charged at most: the {@linkplain Limit#maxWait() longest wait} for a
     * bucket; 0 for the other algorithms, and for a limit that blocks.
     */
    static long maxDelayMicros(Limit limit) {
        boolean waits = !limit.maxWait().isZero() && limit.permits() > 0;
        return waits && limit instanceof WindowLimit window && window.isBucket()
                ? limit.maxWait().toMillis() * 1_000
                : 0;
    }

    /** Returns the state after a cost was spent, for which the limit has room now or within the call's max-wait. */
    LimitState spend(Limit limit, long cost, long nowMicros);

    /** Returns the permits that a call could spend now, 0 or more. */
    long remaining(Limit limit, long nowMicros);

    /**
     * Returns the least wait in microseconds after which the limit has room for a cost, 1 or more, if no other call spends: 0 if there is
     * room now, {@link Micros#NEVER} if the cost exceeds the capacity.
     */
    long retryAfterMicros(Limit limit, long cost, long nowMicros);

    /** Returns the microseconds until this state equals an untouched one, 0 if it equals one now. */
    long resetAfterMicros(Limit limit, long nowMicros);

    /**
     * Returns the state after a charge was refunded, as far as the charge still counts; this one if the window of the charge has passed.
     * This method expects the stored state, not the state as of the instant, because the limit of the charge can differ from the current
     * limit. {@code charged} is the state right after the charge.
     */
    LimitState refund(Limit limit, LimitState charged, long cost, long nowMicros);

    /**
     * Returns the state after a charge was refunded, as {@link #refund(Limit, LimitState, long, long)} does.
     *
     * @param latest the limit of the latest call
     * @param charged the state right after the charge
     */
    default LimitState refund(Limit latest, Limit limit, LimitState charged, long cost, long nowMicros) {
        return refund(limit, charged, cost, nowMicros);
    }

    /**
     * Returns the state after the cost of a charge was replaced by the actual cost, as far as the charge still counts; this one if the
     * window of the charge has passed. This method expects the stored state, as {@link #refund(Limit, LimitState, long, long)} does.
     *
     * @param latest the limit of the latest call
     * @param charged the state right after the charge
     */
    default LimitState settle(
            Limit latest, Limit limit, LimitState charged, long cost, long actualCost, long nowMicros) {
        return actualCost > cost
                ? raise(limit, charged, actualCost - cost, nowMicros)
                : refund(limit, charged, cost - actualCost, nowMicros);
    }

    /** Returns the state after more permits were charged with an earlier charge, even if the limit has no room for them. */
    LimitState raise(Limit limit, LimitState charged, long more, long nowMicros);

    /**
     * Returns the greatest number of permits that a settlement lets a window or a log count: the permits of two windows, if whole numbers
     * of a script represent them. A script multiplies the permits of a window by its length, except for a calendar limit.
     */
    static long mostPermits(Limit limit) {
        long exact = Limit.MAX_PERMITS + 1;
        if (limit.uses(Algorithm.SLIDING_LOG)) {
            exact = Limit.MAX_LOG_PERMITS;
        } else if (!(limit instanceof CalendarLimit)) {
            exact = Math.min(exact, TokenBucketState.MAX_EXACT / limit.windowUnits());
        }
        return Math.min(2 * limit.permits(), exact);
    }

    /** Returns a count that is raised by some permits, at most to {@link #mostPermits}; never less than before. */
    static long raised(Limit limit, long count, long more) {
        return count + Math.max(0, Math.min(more, mostPermits(limit) - count));
    }

    /**
     * Returns the state right after a charge as it would be if its cost had been the actual cost, for a later refund.
     */
    default LimitState chargedWith(Limit limit, long cost, long actualCost) {
        return this;
    }

    /** Returns the state after a refund of permits, 1 or more, that were spent at an unknown instant. */
    LimitState refund(Limit limit, long cost);

    /** Returns the quota of the key under the limit at an index of its policy, from a state that includes the charge or not. */
    default Quota quota(Charge charge, int index, boolean spent, long nowMicros) {
        PolicyLimits policy = charge.policy();
        Limit limit = policy.limits().get(index);
        long retryAfter = spent ? 0 : retryAfterMicros(charge, limit, nowMicros);
        long remaining = remaining(limit, nowMicros);
        Quota.Builder quota = describe(limit, Quota.builder(policy.policy(), policy.limitName(index)), nowMicros)
                .capacity(limit.capacity())
                .remaining(remaining)
                .resetAfter(Micros.duration(resetAfterMicros(limit, nowMicros)));
        if (remaining < limit.capacity()) {
            quota.nextPermitAfter(Micros.duration(nextPermitAfterMicros(limit, remaining, nowMicros)));
        }
        return (retryAfter > 0 ? Micros.rejectedFor(quota, retryAfter) : quota).build();
    }

    private Quota.Builder describe(Limit limit, Quota.Builder quota, long nowMicros) {
        return limit.fold(
                window -> quota.window(window.permits(), window.window()),
                calendar -> quota.calendar(
                        calendar.permits(),
                        CalendarState.bounds(calendar, nowMicros).length(),
                        CalendarBounds.dateTime(
                                ((CalendarState) this).endMicros(),
                                calendar.period().zone())),
                slots -> quota.concurrency(slots.permits()));
    }

    /** Returns the wait until the charge is allowed, which is 0 if its slot is within its max-wait. */
    private long retryAfterMicros(Charge charge, Limit limit, long nowMicros) {
        long wait = retryAfterMicros(limit, charge.cost(), nowMicros);
        return wait == Micros.NEVER ? wait : Math.max(0, wait - maxDelayMicros(limit, charge.maxWaitMicros()));
    }

    /** Returns the microseconds until more permits than now remain. */
    default long nextPermitAfterMicros(Limit limit, long remaining, long nowMicros) {
        return retryAfterMicros(limit, remaining + 1, nowMicros);
    }
}
