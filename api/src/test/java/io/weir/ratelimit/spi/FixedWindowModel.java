// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** The fixed window as the spends of the window that its first one opened. */
final class FixedWindowModel extends ReferenceModel {
    private final List<Spend> spends = new ArrayList<>();
    /** When the window was opened. */
    private long opened;

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
    void refuse(long now) {
        if (now < opened) {
            settle(now);
        }
    }

    @Override
    void giveBack(Spend spend, long now) {
        spend.amount = BigInteger.ZERO;
    }

    @Override
    void giveBack(long cost, long now) {
        settle(now);
        takeOff(spends, big(cost));
    }

    @Override
    ReferenceModel asOf(long now) {
        FixedWindowModel model = new FixedWindowModel(limit);
        model.spends.addAll(spends);
        model.opened = Math.min(opened, now);
        return model;
    }

    @Override
    void reset() {
        spends.clear();
    }

    /** What comes before a write: a new window if nothing counts, what exceeds the limit is forgotten, the future is now. */
    private void settle(long now) {
        if (untouched(now)) {
            spends.clear();
            opened = now;
        } else {
            opened = Math.min(opened, now);
            takeOff(spends, sum(spends).subtract(spent(now)));
        }
    }

    private BigInteger spent(long now) {
        boolean over = now >= opened && now - opened >= limit.windowMicros();
        return over ? BigInteger.ZERO : sum(spends).min(big(limit.permits()));
    }
}
