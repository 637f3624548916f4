// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** The sliding window counter as a list of spends, each in a numbered window. */
final class SlidingWindowModel extends ReferenceModel {
    private final List<Spend> spends = new ArrayList<>();
    /** When window 0 starts. */
    private long anchor;

    SlidingWindowModel(Limit limit) {
        super(limit);
    }

    @Override
    boolean untouched(long now) {
        return spentIn(windowAt(now)).signum() == 0
                && spentIn(windowAt(now) - 1).signum() == 0;
    }

    /** current + previous × (1 − elapsed) + cost ≤ n, times the window's units. */
    @Override
    boolean fits(long cost, long now) {
        long window = windowAt(now);
        long elapsed = (now - anchorAt(now) - window * limit.windowMicros()) / limit.unitMicros();
        BigInteger previous = spentIn(window - 1).multiply(big(limit.windowUnits() - elapsed));
        BigInteger current = spentIn(window).add(big(cost)).multiply(big(limit.windowUnits()));
        return current.add(previous).compareTo(big(limit.permits()).multiply(big(limit.windowUnits()))) <= 0;
    }

    @Override
    Spend spend(long cost, long now) {
        settle(now);
        Spend spend = new Spend(big(cost));
        spend.window = windowAt(now);
        spends.add(spend);
        return spend;
    }

    @Override
    void refuse(long now) {
        if (anchorAt(now) != anchor) {
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
        List<Spend> latestFirst = new ArrayList<>(in(windowAt(now)));
        latestFirst.addAll(in(windowAt(now) - 1));
        takeOff(latestFirst, big(cost));
    }

    @Override
    ReferenceModel asOf(long now) {
        SlidingWindowModel model = new SlidingWindowModel(limit);
        model.spends.addAll(spends);
        model.anchor = anchorAt(now);
        return model;
    }

    @Override
    void reset() {
        spends.clear();
    }

    /** What comes before a write: an idle key starts anew, what exceeds the limit is forgotten, the future is now. */
    private void settle(long now) {
        boolean idle = untouched(now);
        anchor = idle ? now : anchorAt(now);
        if (idle) {
            spends.clear();
        }
        long window = windowAt(now);
        spends.removeIf(spend -> spend.window < window - 1);
        takeOff(in(window), sum(in(window)).subtract(spentIn(window)));
        takeOff(in(window - 1), sum(in(window - 1)).subtract(spentIn(window - 1)));
    }

    private BigInteger spentIn(long window) {
        return sum(in(window)).min(big(limit.permits()));
    }

    private List<Spend> in(long window) {
        return spends.stream().filter(spend -> spend.window == window).toList();
    }

    private long windowAt(long now) {
        return (now - anchorAt(now)) / limit.windowMicros();
    }

    /** A clock that stepped back to before the latest window takes that window as starting now. */
    private long anchorAt(long now) {
        long latest = spends.stream().mapToLong(spend -> spend.window).max().orElse(0);
        long latestStart = anchor + latest * limit.windowMicros();
        return now < latestStart ? anchor - (latestStart - now) : anchor;
    }
}
