// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Quota;
import java.math.BigInteger;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * One limit on one key, as the documentation describes it and as slowly as you like. It knows only whether a cost fits at
 * an instant; how much is left and how long to wait it finds by trying. Shares nothing with {@link LimitState}.
 */
abstract class ReferenceModel {
    /** The limit now, which may change. */
    protected Limit limit;

    ReferenceModel(Limit limit) {
        this.limit = limit;
    }

    static ReferenceModel of(Limit limit) {
        return switch (limit.algorithm()) {
            case FIXED_WINDOW -> new FixedWindowModel(limit);
            case SLIDING_WINDOW -> new SlidingWindowModel(limit);
            case TOKEN_BUCKET, LEAKY_BUCKET -> new TokenBucketModel(limit);
            case SLIDING_LOG -> new SlidingLogModel(limit);
        };
    }

    /** What one admitted call spent; what a receipt stands for. */
    static final class Spend {
        BigInteger amount;
        long window;
        long micros;

        Spend(BigInteger amount) {
            this.amount = amount;
        }
    }

    abstract boolean fits(long cost, long now);

    /** Whether calls are given slots, so that a call is admitted if it fits at an instant within its patience. */
    boolean givesSlots() {
        return false;
    }

    abstract boolean untouched(long now);

    abstract Spend spend(long cost, long now);

    /** A refusal changes nothing, unless the clock has stepped back: then what was spent is taken as of now. */
    abstract void refuse(long now);

    /** Gives back what still counts of a spend. */
    abstract void giveBack(Spend spend, long now);

    /** Gives back a cost spent nobody knows when. */
    abstract void giveBack(long cost, long now);

    void change(Limit changed) {
        limit = changed;
    }

    abstract void reset();

    /** This model where the clock has not yet reached its latest spend: as if that were made now. */
    abstract ReferenceModel asOf(long now);

    /** Whether a call is admitted, now or because it waits for a slot. */
    boolean admits(long cost, long patience, long now) {
        return asOf(now).isAdmitted(cost, patience, now);
    }

    private boolean isAdmitted(long cost, long patience, long now) {
        return fits(
                cost, givesSlots() ? now + Math.min(patience, limit.maxWait().toNanos() / 1_000) : now);
    }

    /** How far away the slot of a call is that is admitted. */
    long slot(long cost, long now) {
        ReferenceModel model = asOf(now);
        return first(now, at -> model.fits(cost, at));
    }

    /** What the limit says, either to a call that asks for a cost or, after it was spent, to the one that spent it. */
    Quota quota(String policy, String name, long cost, long patience, boolean spent, long now) {
        return asOf(now).told(policy, name, cost, patience, spent, now);
    }

    private Quota told(String policy, String name, long cost, long patience, boolean spent, long now) {
        boolean refused = !spent && !isAdmitted(cost, patience, now);
        long remaining = remaining(now);
        return new Quota(
                policy,
                name,
                limit.permits(),
                limit.capacity(),
                limit.window(),
                remaining,
                refused,
                !refused ? 0 : cost > limit.capacity() ? Quota.NEVER : first(now, at -> isAdmitted(cost, patience, at)),
                first(now, this::untouched),
                remaining == limit.capacity() ? 0 : first(now, at -> fits(remaining + 1, at)));
    }

    private long remaining(long now) {
        return greatest(limit.capacity(), cost -> fits(cost, now));
    }

    /** The greatest cost up to the capacity that is 0 or fits: whatever is below one that fits, fits too. */
    private static long greatest(long capacity, LongPredicate fits) {
        long low = 0;
        long high = capacity;
        while (low < high) {
            long middle = low + (high - low + 1) / 2;
            if (fits.test(middle)) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    /** The least wait after which something holds that, once true, stays true while nobody spends. */
    private static long first(long now, LongPredicate holds) {
        long high = 0;
        while (!holds.test(now + high)) {
            high = Math.max(1, Math.multiplyExact(high, 2L));
        }
        long low = 0;
        while (low < high) {
            long middle = low + (high - low) / 2;
            if (holds.test(now + middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    static BigInteger big(long value) {
        return BigInteger.valueOf(value);
    }

    static BigInteger sum(List<Spend> spends) {
        return spends.stream().map(spend -> spend.amount).reduce(BigInteger.ZERO, BigInteger::add);
    }

    /** Takes an amount off some spends, from the first on. */
    static void takeOff(List<Spend> spends, BigInteger amount) {
        BigInteger left = amount;
        for (Spend spend : spends) {
            BigInteger part = spend.amount.min(left);
            spend.amount = spend.amount.subtract(part);
            left = left.subtract(part);
        }
    }
}
