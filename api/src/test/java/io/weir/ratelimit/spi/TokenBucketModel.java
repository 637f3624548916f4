// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The token bucket as a list of spends whose permits return in the order they were spent. Amounts are permits times the
 * window in microseconds, so that a permit's return in one microsecond is a whole number.
 */
final class TokenBucketModel extends ReferenceModel {
    private final List<Spend> spends = new ArrayList<>();
    /** Since when permits return. */
    private long since;

    TokenBucketModel(Limit limit) {
        super(limit);
    }

    @Override
    boolean givesSlots() {
        return true;
    }

    @Override
    boolean untouched(long now) {
        return missing(now).signum() == 0;
    }

    @Override
    boolean fits(long cost, long now) {
        return missing(now).add(permits(cost)).compareTo(permits(limit.capacity())) <= 0;
    }

    @Override
    Spend spend(long cost, long now) {
        settle(now);
        Spend spend = new Spend(permits(cost));
        spends.add(spend);
        return spend;
    }

    @Override
    void refuse(long now) {
        if (start(now) != since) {
            settle(now);
        }
    }

    @Override
    void giveBack(Spend spend, long now) {
        // Empty if all of it had returned before the latest write.
        List<Spend> upToIt = spends.subList(0, spends.indexOf(spend) + 1);
        BigInteger returned = sum(spends).subtract(missing(now));
        BigInteger left = sum(upToIt).subtract(returned).max(BigInteger.ZERO).min(spend.amount);
        spend.amount = spend.amount.subtract(left);
    }

    @Override
    void giveBack(long cost, long now) {
        settle(now);
        takeOff(spends, permits(cost));
    }

    @Override
    ReferenceModel asOf(long now) {
        TokenBucketModel model = new TokenBucketModel(limit);
        model.spends.addAll(spends);
        model.since = start(now);
        return model;
    }

    @Override
    void reset() {
        spends.clear();
    }

    /** What comes before a write: what has returned is taken off, and time starts at the last whole unit. */
    private void settle(long now) {
        BigInteger missing = missing(now);
        since = missing.signum() == 0 ? now : start(now) + unitsSince(now) * limit.unitMicros();
        BigInteger returned = sum(spends).subtract(missing);
        takeOff(spends, returned.max(BigInteger.ZERO));
        if (returned.signum() < 0) {
            spends.get(spends.size() - 1).amount =
                    spends.get(spends.size() - 1).amount.subtract(returned);
        }
        spends.removeIf(spend -> spend.amount.signum() == 0);
    }

    /** Never more than the capacity and what returns while the most patient call waits; a limit with a coarser time unit rounds up to what returns in whole units. */
    private BigInteger missing(long now) {
        BigInteger unit = big(limit.unitMicros());
        BigInteger rounded =
                sum(spends).add(unit).subtract(BigInteger.ONE).divide(unit).multiply(unit);
        return rounded.min(permits(limit.capacity()).add(returnedWithin(limit.maxWait())))
                .subtract(big(limit.permits()).multiply(unit).multiply(big(unitsSince(now))))
                .max(BigInteger.ZERO);
    }

    private BigInteger returnedWithin(Duration time) {
        return big(limit.permits()).multiply(big(time.toMillis())).multiply(big(1_000));
    }

    private long unitsSince(long now) {
        return (now - start(now)) / limit.unitMicros();
    }

    private long start(long now) {
        return Math.min(since, now);
    }

    private BigInteger permits(long permits) {
        return big(permits).multiply(big(limit.windowMicros()));
    }
}
