// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Quota;

/**
 * The token bucket and the leaky bucket, kept as what is missing from a full one. A permit is divided into as many parts as the window has time
 * units, so that in each unit as many parts return as the limit has permits: no rate is ever rounded. A call that waits for its slot is
 * charged at once, so that more can be missing than the bucket holds: what queues. Source: the virtual
 * scheduling form of the generic cell rate algorithm, ITU-T I.371, with the remainder kept.
 *
 * @param anchorMicros when the debt was this much
 * @param debt parts of permits that are missing
 * @param unitExponent the time unit that the parts are counted in, as {@link Limit#unitExponent()}
 */
public record TokenBucketState(long anchorMicros, long debt, int unitExponent) implements LimitState {

    @Override
    public TokenBucketState at(Limit limit, long nowMicros) {
        long owed = Math.min(debtInUnitsOf(limit), limit.mostDebt());
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
    public boolean fits(Limit limit, long cost, long nowMicros) {
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
    public long waitMicros(Limit limit, long cost, long nowMicros) {
        if (cost > limit.capacity()) {
            return Quota.NEVER;
        }
        return untilDebtIs(limit, (limit.capacity() - cost) * limit.windowUnits(), nowMicros);
    }

    @Override
    public long resetMicros(Limit limit, long nowMicros) {
        return untilDebtIs(limit, 0, nowMicros);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Permits return in the order they were spent, so what is given back is what of this charge has not returned yet. Calls
     * charged after it can make that less than the charge displaced; other charges given back before it, a reset or a changed
     * limit can make it more, but never more than the charge.
     */
    @Override
    public TokenBucketState giveBack(Limit limit, LimitState charged, long cost, long nowMicros) {
        if (charged instanceof TokenBucketState then && then.unitExponent == unitExponent) {
            long left = then.at(limit, nowMicros).debt;
            return withDebt(debt - Math.min(left, cost * limit.windowUnits()));
        }
        return this;
    }

    @Override
    public TokenBucketState giveBack(Limit limit, long cost) {
        return cost > debt / limit.windowUnits() ? withDebt(0) : withDebt(debt - cost * limit.windowUnits());
    }

    private TokenBucketState withDebt(long less) {
        return new TokenBucketState(anchorMicros, Math.max(0, less), unitExponent);
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
