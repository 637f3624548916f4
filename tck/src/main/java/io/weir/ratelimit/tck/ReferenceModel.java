// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.WindowLimit;
import java.math.BigInteger;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;

/**
 * A model of one limit of one key, written after the documentation and without regard to speed. A subclass determines only whether a cost
 * fits at an instant. This class finds the remaining permits and the waits by search. It shares no code with a backend.
 */
abstract class ReferenceModel {
    /** The current limit. */
    protected Limit limit;

    ReferenceModel(Limit limit) {
        this.limit = limit;
    }

    static ReferenceModel of(Limit limit) {
        if (limit instanceof CalendarLimit calendar) {
            return new CalendarModel(calendar);
        }
        return switch (((WindowLimit) limit).algorithm()) {
            case FIXED_WINDOW -> new FixedWindowModel(limit);
            case SLIDING_WINDOW -> new SlidingWindowModel(limit);
            case TOKEN_BUCKET, LEAKY_BUCKET -> new TokenBucketModel(limit);
            case SLIDING_LOG -> new SlidingLogModel(limit);
        };
    }

    /** The permits that one allowed call spent. */
    static final class Spend {
        BigInteger amount;
        long window;
        long micros;

        /** The permits that a bucket lacked right after the spend, in its unit. */
        BigInteger missing = BigInteger.ZERO;

        Spend(BigInteger amount) {
            this.amount = amount;
        }
    }

    abstract boolean fits(long cost, long now);

    /** Returns whether a call is allowed if its cost fits at an instant within its max-wait. */
    boolean chargesInAdvance() {
        return false;
    }

    abstract boolean untouched(long now);

    abstract Spend spend(long cost, long now);

    /** Records a rejection. It changes the model only if the clock has stepped back: spends in the future then count as spends now. */
    abstract void reject(long now);

    /** Refunds the permits of a spend that still count. */
    abstract void refund(Spend spend, long now);

    /** Adds permits to a spend that still counts, even if the limit has no room for them. */
    abstract void raise(Spend spend, long more, long now);

    /** Reduces the cost of a spend. */
    abstract void reduce(Spend spend, long less, long now);

    /** Refunds a cost without a receipt. */
    abstract void refund(long cost, long now);

    /** Returns the length of the window at an instant. */
    Duration window(long now) {
        return limit.window();
    }

    /**
     * Returns the end of the period at an instant.
     *
     * @param untouched whether no spend counts
     * @return empty for a limit with a window
     */
    Optional<ZonedDateTime> periodEnd(long now, boolean untouched) {
        return Optional.empty();
    }

    void change(Limit changed) {
        limit = changed;
    }

    abstract void reset();

    /** Returns this model with spends in the future moved to an instant. */
    abstract ReferenceModel asOf(long now);

    /** Returns the most permits that a window or a log counts after a settlement: the permits of two windows, as far as they are exact. */
    BigInteger mostPermits() {
        BigInteger exact = BigInteger.ONE.shiftLeft(53).divide(big(limit.windowUnits()));
        return big(limit.permits()).multiply(big(2)).min(exact).min(big(Limit.MAX_PERMITS + 1));
    }

    /** Returns whether a call is allowed, now or after a wait. */
    boolean allows(long cost, long maxWait, long now) {
        return asOf(now).allowsAt(cost, maxWait, now);
    }

    private boolean allowsAt(long cost, long maxWait, long now) {
        return fits(
                cost,
                chargesInAdvance() ? now + Math.min(maxWait, limit.maxWait().toNanos() / 1_000) : now);
    }

    /** Returns the wait of an allowed call. */
    long waitMicros(long cost, long now) {
        ReferenceModel model = asOf(now);
        return shortestWait(now, at -> model.fits(cost, at));
    }

    /** Returns the quota, either for a call with a cost or, after a spend, for the call that spent it. */
    Quota quota(String policy, String name, long cost, long maxWait, boolean spent, long now) {
        return asOf(now).quotaAt(policy, name, cost, maxWait, spent, now);
    }

    private Quota quotaAt(String policy, String name, long cost, long maxWait, boolean spent, long now) {
        boolean rejected = !spent && !allowsAt(cost, maxWait, now);
        long remaining = remaining(now);
        Quota.Builder quota = Quota.builder(policy, name);
        periodEnd(now, untouched(now))
                .ifPresentOrElse(
                        end -> quota.calendar(limit.permits(), window(now), end),
                        () -> quota.window(limit.permits(), window(now)));
        long wait = !rejected
                ? 0
                : cost > limit.capacity() ? QuotaMicros.NEVER : shortestWait(now, at -> allowsAt(cost, maxWait, at));
        return QuotaMicros.build(
                quota.capacity(limit.capacity()).remaining(remaining),
                wait,
                shortestWait(now, this::untouched),
                remaining == limit.capacity() ? 0 : shortestWait(now, at -> fits(remaining + 1, at)));
    }

    private long remaining(long now) {
        return greatestCost(limit.capacity(), cost -> fits(cost, now));
    }

    /** Returns the greatest cost up to the capacity that fits, or 0. Every smaller cost fits, too. */
    private static long greatestCost(long capacity, LongPredicate fits) {
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

    /** Returns the shortest wait after which a condition is true, which then stays true if no permits are spent. */
    private static long shortestWait(long now, LongPredicate holds) {
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

    /** Deducts an amount from spends, beginning with the earliest. */
    static void deduct(List<Spend> spends, BigInteger amount) {
        BigInteger left = amount;
        for (Spend spend : spends) {
            BigInteger part = spend.amount.min(left);
            spend.amount = spend.amount.subtract(part);
            left = left.subtract(part);
        }
    }
}
