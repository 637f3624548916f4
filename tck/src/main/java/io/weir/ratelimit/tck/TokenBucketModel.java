// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.spi.Limit;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The token bucket as a list of spends whose permits return in order. An amount is in permits × window in microseconds, so that the
 * amount that returns in one microsecond is a whole number.
 */
final class TokenBucketModel extends ReferenceModel {
    private final List<Spend> spends = new ArrayList<>();
    /** The instant from which permits return. */
    private long since;

    /** Whether a settlement has charged more than the capacity and the permits that return within the max-wait. */
    private boolean inDebt;

    TokenBucketModel(Limit limit) {
        super(limit);
    }

    @Override
    boolean chargesInAdvance() {
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
        prepare(now);
        Spend spend = new Spend(permits(cost));
        spends.add(spend);
        spend.micros = since;
        spend.missing = sum(spends);
        return spend;
    }

    @Override
    void reject(long now) {
        if (start(now) != since) {
            prepare(now);
        }
    }

    @Override
    void refund(Spend spend, long now) {
        // Empty if the whole spend had returned before the latest write.
        List<Spend> upToSpend = spends.subList(0, spends.indexOf(spend) + 1);
        BigInteger returned = sum(spends).subtract(missing(now));
        BigInteger left = sum(upToSpend).subtract(returned).max(BigInteger.ZERO).min(spend.amount);
        spend.amount = spend.amount.subtract(left);
    }

    @Override
    void reduce(Spend spend, long less, long now) {
        List<Spend> upToSpend = spends.subList(0, spends.indexOf(spend) + 1);
        BigInteger returned = sum(spends).subtract(missing(now));
        BigInteger left = sum(upToSpend).subtract(returned).max(BigInteger.ZERO).min(permits(less));
        spend.amount = spend.amount.subtract(left);
    }

    /** Adds what would be missing now if the bucket had lacked more right after the spend, and nobody else had spent since. */
    @Override
    void raise(Spend spend, long more, long now) {
        BigInteger raised = spend.missing.add(permits(more)).min(mostMissing());
        BigInteger returned = big(limit.permits())
                .multiply(big((now - spend.micros) / limit.unitMicros()))
                .multiply(big(limit.unitMicros()));
        BigInteger left = spend.missing.subtract(returned).max(BigInteger.ZERO);
        BigInteger due = raised.subtract(returned).max(BigInteger.ZERO).subtract(left);
        if (due.signum() > 0) {
            prepare(now);
            BigInteger before = sum(spends);
            BigInteger after = before.add(due).min(mostMissing());
            spends.add(new Spend(after.subtract(before)));
            inDebt |= after.compareTo(mostWithoutDebt()) > 0;
        }
    }

    @Override
    void refund(long cost, long now) {
        prepare(now);
        deduct(spends, permits(cost));
    }

    @Override
    ReferenceModel asOf(long now) {
        TokenBucketModel model = new TokenBucketModel(limit);
        model.spends.addAll(spends);
        model.since = start(now);
        model.inDebt = inDebt;
        return model;
    }

    @Override
    void reset() {
        spends.clear();
        inDebt = false;
    }

    /** Prepares a write: deducts the permits that have returned, and starts at the last whole time unit. */
    private void prepare(long now) {
        BigInteger missing = missing(now);
        since = missing.signum() == 0 ? now : start(now) + unitsSince(now) * limit.unitMicros();
        BigInteger returned = sum(spends).subtract(missing);
        deduct(spends, returned.max(BigInteger.ZERO));
        if (returned.signum() < 0) {
            spends.get(spends.size() - 1).amount =
                    spends.get(spends.size() - 1).amount.subtract(returned);
        }
        spends.removeIf(spend -> spend.amount.signum() == 0);
        inDebt &= sum(spends).compareTo(mostWithoutDebt()) > 0;
    }

    private BigInteger mostWithoutDebt() {
        return permits(limit.capacity()).add(returnedWithin(limit.maxWait()));
    }

    /** Returns the most that can be missing after a settlement, as far as a script represents it exactly. */
    private BigInteger mostMissing() {
        BigInteger exact = BigInteger.ONE.shiftLeft(53).multiply(big(limit.unitMicros()));
        return mostWithoutDebt().add(permits(limit.permits())).min(exact);
    }

    /**
     * Returns the missing permits: at most the capacity and the permits that return within the max-wait, rounded up to whole time units.
     */
    private BigInteger missing(long now) {
        BigInteger unit = big(limit.unitMicros());
        BigInteger rounded =
                sum(spends).add(unit).subtract(BigInteger.ONE).divide(unit).multiply(unit);
        return rounded.min(inDebt ? mostMissing() : mostWithoutDebt())
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
