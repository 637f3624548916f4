// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.spi.Limit;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** The fixed window as a list of the spends of one window. */
final class FixedWindowModel extends ReferenceModel {
    private final List<Spend> spends = new ArrayList<>();
    /** The start of the window. */
    private long start;

    /** Whether a settlement has charged more permits than the limit has. */
    private boolean inDebt;

    FixedWindowModel(Limit limit) {
        super(limit);
    }

    @Override
    boolean untouched(long now) {
        return spent(now).signum() == 0;
    }

    @Override
    boolean fits(long cost, long now) {
        return spent(now).add(big(cost)).compareTo(big(limit.permits())) <= 0;
    }

    @Override
    Spend spend(long cost, long now) {
        prepare(now);
        Spend spend = new Spend(big(cost));
        spends.add(spend);
        return spend;
    }

    @Override
    void reject(long now) {
        if (now < start) {
            prepare(now);
        }
    }

    @Override
    void refund(Spend spend, long now) {
        spend.amount = BigInteger.ZERO;
    }

    @Override
    void reduce(Spend spend, long less, long now) {
        spend.amount = spend.amount.subtract(big(less)).max(BigInteger.ZERO);
    }

    @Override
    void raise(Spend spend, long more, long now) {
        if (spends.contains(spend) && !passed(now)) {
            BigInteger room = mostPermits().subtract(sum(spends)).max(BigInteger.ZERO);
            spend.amount = spend.amount.add(big(more).min(room));
            inDebt |= sum(spends).compareTo(big(limit.permits())) > 0 && room.signum() > 0;
        }
    }

    @Override
    void refund(long cost, long now) {
        prepare(now);
        deduct(spends, big(cost));
    }

    @Override
    ReferenceModel asOf(long now) {
        FixedWindowModel model = new FixedWindowModel(limit);
        model.spends.addAll(spends);
        model.start = Math.min(start, now);
        model.inDebt = inDebt;
        return model;
    }

    @Override
    void reset() {
        spends.clear();
        inDebt = false;
    }

    /** Prepares a write: starts a new window if nothing counts, limits the spends to the limit, and moves a start in the future to now. */
    private void prepare(long now) {
        if (untouched(now)) {
            spends.clear();
            start = now;
        } else {
            start = Math.min(start, now);
            deduct(spends, sum(spends).subtract(spent(now)));
        }
        inDebt &= sum(spends).compareTo(big(limit.permits())) > 0;
    }

    private BigInteger spent(long now) {
        return passed(now) ? BigInteger.ZERO : sum(spends).min(inDebt ? mostPermits() : big(limit.permits()));
    }

    private boolean passed(long now) {
        return now >= start && now - start >= limit.windowMicros();
    }
}
