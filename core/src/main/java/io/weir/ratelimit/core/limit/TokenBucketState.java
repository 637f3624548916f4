// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.Limit;

/**
 * The state of a token bucket or a leaky bucket, stored as a debt: the permits that are missing from a full bucket. Each permit is
 * divided into as many parts as the window has time units. In each time unit as many parts return as the limit has permits, so no
 * rate is rounded. A call that waits for its slot is charged at once, so the debt can exceed the capacity. Source: the virtual
 * scheduling form of the generic cell rate algorithm (GCRA), ITU-T I.371, with the remainder kept.
 *
 * @param anchorMicros the instant at which the debt was calculated, in microseconds of the backend's clock
 * @param unitExponent the time unit of the parts, as {@link Limit#unitExponent()}
 * @param inDebt whether a settlement has charged more than {@link #maxDebt}
 */
public record TokenBucketState(long anchorMicros, long debt, int unitExponent, boolean inDebt) implements LimitState {
    /** The greatest number up to which a script represents all whole numbers. */
    static final long MAX_EXACT = 1L << 53;

    /** Creates a state without more debt than {@link #maxDebt}. */
    public TokenBucketState(long anchorMicros, long debt, int unitExponent) {
        this(anchorMicros, debt, unitExponent, false);
    }

    /**
     * Returns the greatest debt of a bucket: capacity × window + permits × {@linkplain Limit#maxWait() longest wait} of a call, with both
     * times in time units of the limit; at most 2<sup>53</sup>.
     */
    public static long maxDebt(Limit limit) {
        long delay = LimitState.maxDelayMicros(limit);
        long delayed = delay == 0 ? 0 : limit.permits() * (delay / limit.unitMicros());
        return limit.capacity() * limit.windowUnits() + delayed;
    }

    /** Returns the greatest debt of a bucket after a settlement: {@link #maxDebt} and the permits of one window, at most 2<sup>53</sup>. */
    public static long mostDebt(Limit limit) {
        return Math.min(maxDebt(limit) + limit.permits() * limit.windowUnits(), MAX_EXACT);
    }

    @Override
    public TokenBucketState asOf(Limit limit, long nowMicros) {
        long owed = Math.min(debtInUnitsOf(limit), inDebt ? mostDebt(limit) : maxDebt(limit));
        long anchor = Math.min(anchorMicros, nowMicros);
        long elapsed = (nowMicros - anchor) / limit.unitMicros();
        if (owed == 0 || elapsed >= ceilDiv(owed, limit.permits())) {
            owed = 0;
            anchor = nowMicros;
        } else {
            owed -= elapsed * limit.permits();
            anchor += elapsed * limit.unitMicros();
        }
        boolean exceeds = inDebt && owed > maxDebt(limit);
        return anchor == anchorMicros && owed == debt && unitExponent == limit.unitExponent() && exceeds == inDebt
                ? this
                : new TokenBucketState(anchor, owed, limit.unitExponent(), exceeds);
    }

    @Override
    public boolean isAfter(long nowMicros) {
        return anchorMicros > nowMicros;
    }

    @Override
    public boolean hasRoom(Limit limit, long cost, long nowMicros) {
        return cost <= limit.capacity() && debt <= (limit.capacity() - cost) * limit.windowUnits();
    }

    @Override
    public TokenBucketState spend(Limit limit, long cost, long nowMicros) {
        return new TokenBucketState(anchorMicros, debt + cost * limit.windowUnits(), unitExponent, inDebt);
    }

    @Override
    public long remaining(Limit limit, long nowMicros) {
        return Math.max(0, limit.capacity() - ceilDiv(debt, limit.windowUnits()));
    }

    @Override
    public long retryAfterMicros(Limit limit, long cost, long nowMicros) {
        if (cost > limit.capacity()) {
            return Micros.NEVER;
        }
        return untilDebtIs(limit, (limit.capacity() - cost) * limit.windowUnits(), nowMicros);
    }

    @Override
    public long resetAfterMicros(Limit limit, long nowMicros) {
        return untilDebtIs(limit, 0, nowMicros);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Permits return in the order in which they were spent, so the refund is the part of this charge that has not returned yet.
     * If later calls were charged, the refund can be smaller than the room that the charge took. After another refund, a reset or a
     * change of the limit it can be greater, but it never exceeds the charge.
     */
    @Override
    public TokenBucketState refund(Limit limit, LimitState charged, long cost, long nowMicros) {
        if (charged instanceof TokenBucketState then && then.unitExponent == unitExponent) {
            long left = then.asOf(limit, nowMicros).debt;
            // The actual cost of a settled charge can exceed any limit.
            long refunded = cost > left / limit.windowUnits() ? left : cost * limit.windowUnits();
            return withDebt(debt - refunded);
        }
        return this;
    }

    @Override
    public TokenBucketState refund(Limit limit, long cost) {
        return cost > debt / limit.windowUnits() ? withDebt(0) : withDebt(debt - cost * limit.windowUnits());
    }

    private TokenBucketState withDebt(long newDebt) {
        return new TokenBucketState(anchorMicros, Math.max(0, newDebt), unitExponent, inDebt);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Only the part that has not returned since the charge is charged.
     */
    @Override
    public TokenBucketState raise(Limit limit, LimitState charged, long more, long nowMicros) {
        if (!(charged instanceof TokenBucketState then) || then.unitExponent != unitExponent) {
            return this;
        }
        long due = then.raised(limit, more).asOf(limit, nowMicros).debt - then.asOf(limit, nowMicros).debt;
        if (due == 0) {
            return this;
        }
        TokenBucketState current = asOf(limit, nowMicros);
        long raised = Math.min(current.debt + due, mostDebt(limit));
        return new TokenBucketState(current.anchorMicros, raised, unitExponent, raised > maxDebt(limit));
    }

    @Override
    public TokenBucketState refund(Limit latest, Limit limit, LimitState charged, long cost, long nowMicros) {
        return settle(latest, limit, charged, cost, 0, nowMicros);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Permits return by the rate of the latest call, and a bucket that is full by this rate is charged under the limit of the charge.
     */
    @Override
    public TokenBucketState settle(
            Limit latest, Limit limit, LimitState charged, long cost, long actualCost, long nowMicros) {
        if (!(charged instanceof TokenBucketState then)) {
            return this;
        }
        boolean isMore = actualCost > cost;
        if (asOf(latest, nowMicros).debt == 0) {
            TokenBucketState full = new TokenBucketState(nowMicros, 0, limit.unitExponent());
            TokenBucketState raised = isMore ? full.raise(limit, then, actualCost - cost, nowMicros) : full;
            return raised.debt == 0 ? this : raised;
        }
        TokenBucketState stored = unitExponent == latest.unitExponent() ? this : asOf(latest, anchorMicros);
        TokenBucketState moved = then.under(latest, limit, anchorMicros, isMore);
        return isMore
                ? stored.raise(latest, moved, actualCost - cost, nowMicros)
                : stored.refund(latest, moved, cost - actualCost, nowMicros);
    }

    /**
     * Returns this charge as one under the limit of the latest call, from which as much has returned. It is unknown when the limit changed
     * before that call, so until then the rate counts that leaves fewer permits to callers.
     */
    private TokenBucketState under(Limit latest, Limit limit, long latestMicros, boolean isMore) {
        double pace = (double) limit.permits() / latest.permits();
        long passed = Math.max(0, latestMicros - anchorMicros);
        // No refill takes longer than this, and an instant so far back does not overflow.
        long counted = (long) Math.min(MAX_EXACT, passed * (isMore ? Math.min(1, pace) : Math.max(1, pace)));
        long anchor = anchorMicros + passed - counted;
        return new TokenBucketState(anchor, debtInUnitsOf(latest), latest.unitExponent(), inDebt).asOf(latest, anchor);
    }

    private TokenBucketState raised(Limit limit, long more) {
        long room = (mostDebt(limit) - debt) / limit.windowUnits();
        long raised = more > room ? mostDebt(limit) : debt + more * limit.windowUnits();
        return new TokenBucketState(anchorMicros, raised, unitExponent, true);
    }

    @Override
    public TokenBucketState chargedWith(Limit limit, long cost, long actualCost) {
        return actualCost > cost ? raised(limit, actualCost - cost) : refund(limit, cost - actualCost);
    }

    private long untilDebtIs(Limit limit, long target, long nowMicros) {
        return debt <= target
                ? 0
                : ceilDiv(debt - target, limit.permits()) * limit.unitMicros() - (nowMicros - anchorMicros);
    }

    private long debtInUnitsOf(Limit limit) {
        long converted = debt;
        for (int from = unitExponent; from < limit.unitExponent(); from++) {
            converted = ceilDiv(converted, 10);
        }
        for (int from = unitExponent; from > limit.unitExponent(); from--) {
            converted = Math.min(converted, Long.MAX_VALUE / 10) * 10;
        }
        return converted;
    }

    private static long ceilDiv(long dividend, long divisor) {
        return divisor == 0 ? 0 : (dividend + divisor - 1) / divisor;
    }
}
