// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.FixedWindowState;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.SlidingWindowState;
import io.weir.ratelimit.spi.TokenBucketState;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Permits of one key that were charged in one step and are spent from memory. For use by any number of threads, without a lock.
 *
 * <p>To spend one of them must never admit what the limit would not have. What keeps that, by algorithm:
 *
 * <ul>
 *   <li>Windows only count. While the window lasts that the permits were charged to, it makes no difference to any decision when in it
 *       they were spent; after its end none is.
 *   <li>A bucket fills while permits lie here, so two bursts could meet: that of the permits here and that of the bucket that is full
 *       again. What is spent in any span that begins at an instant is what lies unspent then and what is charged later; the latter
 *       is at most what the bucket holds at that instant and what returns in the span. So it is enough that no more lies unspent,
 *       over all instances, than is missing from the bucket. Permits here fade as permits return to the bucket, from the charge on,
 *       as if nothing had been missing before: what was may be given back by others, and would not stand before these any more.
 * </ul>
 *
 * <p>Redis's clock is known to within the time that its answer took. Permits are spent by the latest that it can be, and quotas told by
 * the earliest, so that the waits in them are enough.
 */
final class Grant {
    private static final long CLOSED = -1;
    private static final int HALF = 32;
    private static final long LOW = (1L << HALF) - 1;

    private final Charge charge;
    private final Answer answer;

    /** Permits that have faded in the upper half, those that can be spent in the lower. */
    private final AtomicLong held;

    /**
     * Permits that nobody has spent yet.
     *
     * @param charge what was charged
     * @param answer what the store said to it
     */
    Grant(Charge charge, Answer answer) {
        this.charge = charge;
        this.answer = answer;
        this.held = new AtomicLong(charge.cost());
    }

    /**
     * Spends permits.
     *
     * @return how many are left, -1 if too few were there
     */
    long take(long cost, long nowNanos) {
        long latest = latestMicros(nowNanos);
        while (true) {
            long before = held.get();
            long whole = unspent(before);
            long usable = Math.min(whole, standing(latest));
            if (before == CLOSED || usable < cost) {
                return -1;
            }
            long after = held(faded(before) + whole - usable, usable - cost);
            if (held.compareAndSet(before, after)) {
                return usable - cost;
            }
        }
    }

    /** Takes permits in that are not spent after all; false if they are of no use here any more. */
    boolean putBack(long cost, long nowNanos) {
        while (true) {
            long before = held.get();
            if (before == CLOSED || standing(latestMicros(nowNanos)) == 0 || unspent(before) + cost > LOW >> 1) {
                return false;
            }
            if (held.compareAndSet(before, before + cost)) {
                return true;
            }
        }
    }

    /** Permits that can be spent, as far as they have not faded since the last was. */
    long unspent() {
        long now = held.get();
        return now == CLOSED ? 0 : unspent(now);
    }

    /** Whether nothing of this can be spent any more. */
    boolean isOver(long nowNanos) {
        return unspent() == 0 || standing(latestMicros(nowNanos)) == 0;
    }

    /** Changes with each permit that is spent. */
    long mark() {
        return held.get();
    }

    private static long held(long faded, long unspent) {
        return (faded << HALF) | unspent;
    }

    private static long unspent(long held) {
        return held & LOW;
    }

    private static long faded(long held) {
        return held >>> HALF;
    }

    /**
     * Whether what was charged with these states after it can be spent as a part of this: in the same windows. Of a bucket nothing
     * can, since what was charged some time ago has returned to it.
     */
    boolean isChargedWith(List<LimitState> states) {
        for (int i = 0; i < states.size(); i++) {
            LimitState mine = answer.states().get(i);
            if (mine instanceof TokenBucketState || start(mine) != start(states.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** How many permits of this can count at most as charged and unspent: no bound while a window lasts, none after it. */
    private long standing(long latestMicros) {
        long least = Long.MAX_VALUE;
        List<Limit> limits = charge.policy().limits();
        for (int i = 0; i < limits.size(); i++) {
            least = Math.min(least, standing(limits.get(i), answer.states().get(i), latestMicros));
        }
        return least;
    }

    private long standing(Limit limit, LimitState state, long micros) {
        if (state instanceof TokenBucketState bucket) {
            long returned = bucket.debt() - bucket.at(limit, micros).debt();
            long units = limit.windowUnits();
            // Rounded up, since charges are whole: by as much what the bucket has left is rounded down.
            return (Math.max(0, charge.cost() * units - returned) + units - 1) / units;
        }
        return micros - start(state) < limit.windowMicros() ? Long.MAX_VALUE : 0;
    }

    private static long start(LimitState window) {
        return window instanceof SlidingWindowState sliding
                ? sliding.startMicros()
                : ((FixedWindowState) window).startMicros();
    }

    /**
     * Ends this; nothing is spent of it any more.
     *
     * @return what is to be given back
     */
    List<GiveBack> close(long nowNanos) {
        long last = held.getAndSet(CLOSED);
        if (last == CLOSED || last == 0) {
            return List.of();
        }
        long rest = unspent(last) + faded(last);
        List<Limit> limits = charge.policy().limits();
        long[] back = new long[limits.size()];
        boolean alike = true;
        for (int i = 0; i < back.length; i++) {
            back[i] = returnable(i, unspent(last), rest, nowNanos);
            alike &= back[i] == back[0];
        }
        if (alike) {
            return back[0] == 0 ? List.of() : List.of(giveBack(charge.policy(), back[0], answer.states()));
        }
        List<GiveBack> each = new ArrayList<>();
        for (int i = 0; i < back.length; i++) {
            if (back[i] > 0) {
                PolicyLimits one = new PolicyLimits(charge.policy().policy(), List.of(limits.get(i)));
                each.add(giveBack(one, back[i], List.of(answer.states().get(i))));
            }
        }
        return each;
    }

    private GiveBack giveBack(PolicyLimits limits, long cost, List<LimitState> states) {
        return GiveBack.ofReceipt(new Charge(limits, charge.identity(), cost), states);
    }

    /** What a limit still counts of the permits that were never spent. Those of a bucket may have faded by another: never too many. */
    private long returnable(int index, long usable, long rest, long nowNanos) {
        Limit limit = charge.policy().limits().get(index);
        LimitState state = answer.states().get(index);
        if (state instanceof TokenBucketState bucket) {
            return Math.min(usable, bucket.at(limit, latestMicros(nowNanos)).debt() / limit.windowUnits());
        }
        int windows = state instanceof SlidingWindowState ? 2 : 1;
        return earliestMicros(nowNanos) - start(state) < windows * limit.windowMicros() ? rest : 0;
    }

    /** The states of a receipt for a cost of which so many permits were left over: each bucket's right after its own part of the charge. */
    List<LimitState> statesOfReceipt(long left) {
        if (!(answer.states().get(0) instanceof TokenBucketState)) {
            return answer.states();
        }
        List<LimitState> states = new ArrayList<>(answer.states().size());
        List<Limit> limits = charge.policy().limits();
        for (int i = 0; i < limits.size(); i++) {
            states.add(answer.states().get(i).giveBack(limits.get(i), left));
        }
        return states;
    }

    /**
     * What the limits say about a call for which there was room: what the store said when this was charged, with what is unspent taken for free.
     *
     * @param unspent permits of this key that are unspent in this process
     * @param into takes one quota per limit
     */
    void addQuotas(Charge of, long unspent, long nowNanos, List<Quota> into) {
        long now = earliestMicros(nowNanos);
        List<Limit> limits = of.policy().limits();
        for (int i = 0; i < limits.size(); i++) {
            LimitState state = answer.states().get(i);
            LimitState free = unspent == 0 ? state : state.giveBack(limits.get(i), unspent);
            into.add(of.policy().quota(i, free.at(limits.get(i), now), of.cost(), 0, true, now));
        }
    }

    /** The least that a limit has left for everybody else, as far as is known here. */
    long room(long nowNanos) {
        long least = Long.MAX_VALUE;
        long now = earliestMicros(nowNanos);
        List<Limit> limits = charge.policy().limits();
        for (int i = 0; i < limits.size(); i++) {
            Limit limit = limits.get(i);
            least = Math.min(least, answer.states().get(i).at(limit, now).remaining(limit, now));
        }
        return least;
    }

    private long earliestMicros(long nowNanos) {
        return answer.nowMicros() + Math.max(0, nowNanos - answer.receivedNanos()) / 1_000;
    }

    private long latestMicros(long nowNanos) {
        return answer.nowMicros() + (Math.max(0, nowNanos - answer.sentNanos()) + 999) / 1_000;
    }
}
