// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Limit;

/**
 * The state of a token bucket or a leaky bucket, stored as a debt: the permits that are missing from a full bucket. Each permit is
 * divided into as many parts as the window has time units. In each time unit as many parts return as the limit has permits, so no
 * rate is rounded. A call that waits for its slot is charged at once, so the debt can exceed the capacity. Source: the virtual
 * scheduling form of the generic cell rate algorithm (GCRA), ITU-T I.371, with the remainder kept.
 *
 * @param anchorMicros the instant at which the debt was calculated, in microseconds of the backend's clock
 * @param debt the missing parts of permits
 * @param unitExponent the time unit of the parts, as {@link Limit#unitExponent()}
 */
public record TokenBucketState(long anchorMicros, long debt, int unitExponent) implements LimitState {

    /**
     * Returns the greatest debt of a bucket, in parts of permits: its capacity and the permits that return within the
     * {@linkplain Limit#maxWait() longest wait} of a call.
     *
     * @param limit the limit
     * @return capacity × window + permits × longest delay, with both times in time units of the limit; at most 2<sup>53</sup>
     */
    public static long maxDebt(Limit limit) {
        return limit.capacity() * limit.windowUnits() + limit.permits() * limit.maxDelayUnits();
    }

    @Override
    public TokenBucketState asOf(Limit limit, long nowMicros) {
        long owed = Math.min(debtInUnitsOf(limit), maxDebt(limit));
        long anchor = Math.min(anchorMicros, nowMicros);
        long elapsed = (nowMicros - anchor) / limit.unitMicros();
        if (owed == 0 || elapsed >= ceilDiv(owed, limit.permits())) {
            owed = 0;
            anchor = nowMicros;
        } else {
            owed -= elapsed * limit.permits();
            anchor += elapsed * limit.unitMicros();
        }
        return anchor == anchorMicros && owed == debt && unitExponent == limit.unitExponent()
                ? this
                : new TokenBucketState(anchor, owed, limit.unitExponent());
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
        return new TokenBucketState(anchorMicros, debt + cost * limit.windowUnits(), unitExponent);
    }

    @Override
    public long remaining(Limit limit, long nowMicros) {
        return Math.max(0, limit.capacity() - ceilDiv(debt, limit.windowUnits()));
    }

    @Override
    public long retryAfterMicros(Limit limit, long cost, long nowMicros) {
        if (cost > limit.capacity()) {
            return Quota.NEVER;
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
            return withDebt(debt - Math.min(left, cost * limit.windowUnits()));
        }
        return this;
    }

    @Override
    public TokenBucketState refund(Limit limit, long cost) {
        return cost > debt / limit.windowUnits() ? withDebt(0) : withDebt(debt - cost * limit.windowUnits());
    }

    private TokenBucketState withDebt(long newDebt) {
        return new TokenBucketState(anchorMicros, Math.max(0, newDebt), unitExponent);
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
