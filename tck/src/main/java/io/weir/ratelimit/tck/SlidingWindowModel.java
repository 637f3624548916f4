// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.spi.Limit;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** The sliding window counter as a list of spends, each in a numbered window. */
final class SlidingWindowModel extends ReferenceModel {
    private final List<Spend> spends = new ArrayList<>();
    /** The start of window 0. */
    private long anchor;

    /** Whether a settlement has charged more permits to a window than the limit has. */
    private boolean inDebt;

    SlidingWindowModel(Limit limit) {
        super(limit);
    }

    @Override
    boolean untouched(long now) {
        return spentIn(windowAt(now)).signum() == 0
                && spentIn(windowAt(now) - 1).signum() == 0;
    }

    /** Evaluates current + previous × (1 − elapsed) + cost ≤ n, multiplied by the time units of the window. */
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
        prepare(now);
        Spend spend = new Spend(big(cost));
        spend.window = windowAt(now);
        spends.add(spend);
        return spend;
    }

    @Override
    void reject(long now) {
        if (anchorAt(now) != anchor) {
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
        if (spends.contains(spend) && spend.window >= windowAt(now) - 1) {
            BigInteger room = mostPermits().subtract(sum(in(spend.window))).max(BigInteger.ZERO);
            spend.amount = spend.amount.add(big(more).min(room));
            inDebt |= sum(in(spend.window)).compareTo(big(limit.permits())) > 0 && room.signum() > 0;
        }
    }

    @Override
    void refund(long cost, long now) {
        prepare(now);
        List<Spend> latestFirst = new ArrayList<>(in(windowAt(now)));
        latestFirst.addAll(in(windowAt(now) - 1));
        deduct(latestFirst, big(cost));
    }

    @Override
    ReferenceModel asOf(long now) {
        SlidingWindowModel model = new SlidingWindowModel(limit);
        model.spends.addAll(spends);
        model.anchor = anchorAt(now);
        model.inDebt = inDebt;
        return model;
    }

    @Override
    void reset() {
        spends.clear();
        inDebt = false;
    }

    /** Prepares a write: moves the anchor of an untouched key to now, and limits the spends of each window to the limit. */
    private void prepare(long now) {
        boolean idle = untouched(now);
        anchor = idle ? now : anchorAt(now);
        if (idle) {
            spends.clear();
        }
        long window = windowAt(now);
        spends.removeIf(spend -> spend.window < window - 1);
        deduct(in(window), sum(in(window)).subtract(spentIn(window)));
        deduct(in(window - 1), sum(in(window - 1)).subtract(spentIn(window - 1)));
        inDebt &= exceeds(window) || exceeds(window - 1);
    }

    private boolean exceeds(long window) {
        return sum(in(window)).compareTo(big(limit.permits())) > 0;
    }

    private BigInteger spentIn(long window) {
        return sum(in(window)).min(inDebt ? mostPermits() : big(limit.permits()));
    }

    private List<Spend> in(long window) {
        return spends.stream().filter(spend -> spend.window == window).toList();
    }

    private long windowAt(long now) {
        return (now - anchorAt(now)) / limit.windowMicros();
    }

    /** Returns the anchor. If the clock stepped back before the latest window, that window starts now. */
    private long anchorAt(long now) {
        long latest = spends.stream().mapToLong(spend -> spend.window).max().orElse(0);
        long latestStart = anchor + latest * limit.windowMicros();
        return now < latestStart ? anchor - (latestStart - now) : anchor;
    }
}
