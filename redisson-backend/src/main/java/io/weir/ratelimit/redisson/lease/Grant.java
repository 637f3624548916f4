// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.lease;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.StoredStates;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Permits of one key that were charged in one step and are spent from memory. Thread-safe without locks.
 *
 * <p>A permit of a grant must never allow a call that the limit would have rejected:
 *
 * <ul>
 *   <li>A window only counts. Until the window ends to which the permits were charged, the instant at which they are spent makes no
 *       difference to any decision. After its end none of them is spent.
 *   <li>A bucket refills while a grant holds its permits, so that the burst of the grant could meet the burst of a full bucket. The
 *       permits spent in a time span are those unspent at its start and those charged later. The latter are at most what the bucket holds
 *       at the start and what returns in the span. Therefore all instances together may hold no more unspent permits than are missing in
 *       the bucket. Permits of a grant expire as permits return to the bucket, from the charge on, as if the bucket had been full before:
 *       what was missing before may be refunded by others at any time.
 * </ul>
 *
 * <p>Redis's clock is known to within the duration of the script call. Permits are spent by its latest possible time. Quotas are
 * calculated by its earliest possible time, so that their retry-after is long enough.
 */
final class Grant {
    private static final long CLOSED = -1;
    private static final int HALF = 32;
    private static final long LOW = (1L << HALF) - 1;

    private final Charge charge;
    private final List<LimitState> states;
    private final RedisTime time;

    /** Expired permits in the upper half, unspent permits in the lower half. */
    private final AtomicLong permits;

    /** Creates a grant whose permits are all unspent, with the state of each limit right after the charge. */
    Grant(Charge charge, List<LimitState> states, RedisTime time) {
        this.charge = charge;
        this.states = states;
        this.time = time;
        this.permits = new AtomicLong(charge.cost());
    }

    /** Spends permits. Returns how many are left, -1 if there were too few. */
    long spend(long cost, long nowNanos) {
        long latest = time.latestMicros(nowNanos);
        while (true) {
            long before = permits.get();
            long unspent = unspent(before);
            long usable = Math.min(unspent, maxUnspent(latest));
            if (before == CLOSED || usable < cost) {
                return -1;
            }
            long after = packed(expired(before) + unspent - usable, usable - cost);
            if (permits.compareAndSet(before, after)) {
                return usable - cost;
            }
        }
    }

    /** Takes back permits that were spent; false if they can be spent from this grant no longer. */
    boolean refund(long cost, long nowNanos) {
        while (true) {
            long before = permits.get();
            if (before == CLOSED || maxUnspent(time.latestMicros(nowNanos)) == 0 || unspent(before) + cost > LOW >> 1) {
                return false;
            }
            if (permits.compareAndSet(before, before + cost)) {
                return true;
            }
        }
    }

    /** Returns the permits that can be spent; those that have expired since the latest call may be among them. */
    long unspent() {
        long now = permits.get();
        return now == CLOSED ? 0 : unspent(now);
    }

    /** Returns whether no permit can be spent any more. */
    boolean isExhausted(long nowNanos) {
        return unspent() == 0 || maxUnspent(time.latestMicros(nowNanos)) == 0;
    }

    /** Returns a number that changes with each permit that is spent. */
    long usageMark() {
        return permits.get();
    }

    private static long packed(long expired, long unspent) {
        return (expired << HALF) | unspent;
    }

    private static long unspent(long packed) {
        return packed & LOW;
    }

    private static long expired(long packed) {
        return packed >>> HALF;
    }

    /**
     * Returns whether a charge with these states right after it can be refunded to this grant: it was charged to the same windows. Permits
     * of a bucket cannot, since those charged some time ago have returned to it.
     */
    boolean hasWindowsOf(List<LimitState> charged) {
        for (int i = 0; i < charged.size(); i++) {
            if (StoredStates.isBucket(states.get(i))
                    || StoredStates.startMicros(states.get(i)) != StoredStates.startMicros(charged.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Returns how many permits may be unspent at a time: any number until the window ends, 0 afterwards. */
    private long maxUnspent(long latestMicros) {
        long least = Long.MAX_VALUE;
        List<Limit> limits = charge.policy().limits();
        for (int i = 0; i < limits.size(); i++) {
            least = Math.min(least, maxUnspent(limits.get(i), states.get(i), latestMicros));
        }
        return least;
    }

    private long maxUnspent(Limit limit, LimitState state, long micros) {
        if (StoredStates.isBucket(state)) {
            long returned = StoredStates.debt(state) - StoredStates.debt(state.asOf(limit, micros));
            long units = limit.windowUnits();
            // Rounded up, since a charge is a whole number. The remaining permits of the bucket are rounded down by as
            // much.
            return (Math.max(0, charge.cost() * units - returned) + units - 1) / units;
        }
        return micros - StoredStates.startMicros(state) < limit.windowMicros() ? Long.MAX_VALUE : 0;
    }

    /** Closes the grant, after which no permit of it is spent. */
    List<Refund> close(long nowNanos) {
        long last = permits.getAndSet(CLOSED);
        if (last == CLOSED || last == 0) {
            return List.of();
        }
        List<Limit> limits = charge.policy().limits();
        long[] refunds = new long[limits.size()];
        boolean equal = true;
        for (int i = 0; i < refunds.length; i++) {
            refunds[i] = refundable(limits.get(i), states.get(i), last, nowNanos);
            equal &= refunds[i] == refunds[0];
        }
        if (equal) {
            return refunds[0] == 0 ? List.of() : List.of(refund(charge.policy(), refunds[0], states));
        }
        List<Refund> each = new ArrayList<>();
        for (int i = 0; i < refunds.length; i++) {
            if (refunds[i] > 0) {
                PolicyLimits single = new PolicyLimits(charge.policy().policy(), List.of(limits.get(i)));
                each.add(refund(single, refunds[i], List.of(states.get(i))));
            }
        }
        return each;
    }

    private Refund refund(PolicyLimits limits, long cost, List<LimitState> charged) {
        return Refund.byReceipt(new Charge(limits, charge.storedKey(), cost), charged);
    }

    /** Returns how many unspent permits a limit still counts. Those of a bucket may expire meanwhile, so their number is a lower bound. */
    private long refundable(Limit limit, LimitState state, long packed, long nowNanos) {
        if (StoredStates.isBucket(state)) {
            long debt = StoredStates.debt(state.asOf(limit, time.latestMicros(nowNanos)));
            return Math.min(unspent(packed), debt / limit.windowUnits());
        }
        boolean counts = time.earliestMicros(nowNanos) - StoredStates.startMicros(state)
                < StoredStates.windowsThatCount(state) * limit.windowMicros();
        return counts ? unspent(packed) + expired(packed) : 0;
    }

    /** Returns the states of a receipt for a part of the charge, after which some permits were left. */
    List<LimitState> receiptStates(long left) {
        if (!StoredStates.isBucket(states.get(0))) {
            return states;
        }
        List<LimitState> after = new ArrayList<>(states.size());
        List<Limit> limits = charge.policy().limits();
        for (int i = 0; i < limits.size(); i++) {
            after.add(states.get(i).refund(limits.get(i), left));
        }
        return after;
    }

    /**
     * Returns the result of an allowed call: that of the charge of this grant, with all unspent permits of the key in this instance counted
     * as remaining.
     */
    ChargeResult result(Charge call, long unspent, long nowNanos) {
        long now = time.earliestMicros(nowNanos);
        List<LimitState> charged = new ArrayList<>(states.size());
        for (int i = 0; i < states.size(); i++) {
            charged.add(state(call, i, unspent, now));
        }
        return new ChargeStates(call, charged).result(true, now);
    }

    /** Returns the quota of {@link #result} for the only limit of a call. */
    ChargedResults quota(Charge call, long unspent, long nowNanos) {
        long now = time.earliestMicros(nowNanos);
        return new ChargedResults(call, state(call, 0, unspent, now), now);
    }

    private LimitState state(Charge call, int i, long unspent, long nowMicros) {
        Limit limit = call.policy().limits().get(i);
        LimitState charged = states.get(i);
        return (unspent == 0 ? charged : charged.refund(limit, unspent)).asOf(limit, nowMicros);
    }

    /** Returns the least number of permits that a limit has left in Redis, as far as this grant knows. */
    long remaining(long nowNanos) {
        long least = Long.MAX_VALUE;
        long now = time.earliestMicros(nowNanos);
        List<Limit> limits = charge.policy().limits();
        for (int i = 0; i < limits.size(); i++) {
            Limit limit = limits.get(i);
            least = Math.min(least, states.get(i).asOf(limit, now).remaining(limit, now));
        }
        return least;
    }
}
