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
        settle(now);
        Spend spend = new Spend(big(cost));
        spends.add(spend);
        return spend;
    }

    @Override
    void reject(long now) {
        if (now < start) {
            settle(now);
        }
    }

    @Override
    void refund(Spend spend, long now) {
        spend.amount = BigInteger.ZERO;
    }

    @Override
    void refund(long cost, long now) {
        settle(now);
        deduct(spends, big(cost));
    }

    @Override
    ReferenceModel asOf(long now) {
        FixedWindowModel model = new FixedWindowModel(limit);
        model.spends.addAll(spends);
        model.start = Math.min(start, now);
        return model;
    }

    @Override
    void reset() {
        spends.clear();
    }

    /** Prepares a write: starts a new window if nothing counts, limits the spends to the limit, and moves a start in the future to now. */
    private void settle(long now) {
        if (untouched(now)) {
            spends.clear();
            start = now;
        } else {
            start = Math.min(start, now);
            deduct(spends, sum(spends).subtract(spent(now)));
        }
    }

    private BigInteger spent(long now) {
        boolean passed = now >= start && now - start >= limit.windowMicros();
        return passed ? BigInteger.ZERO : sum(spends).min(big(limit.permits()));
    }
}
