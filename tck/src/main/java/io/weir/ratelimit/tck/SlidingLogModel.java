// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.spi.Limit;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The sliding log as a list of spends, each of which counts for the length of a window. */
final class SlidingLogModel extends ReferenceModel {
    private final List<Spend> spends = new ArrayList<>();
    /** The latest instant of a spend; a later one counts as a spend at this instant. */
    private long latest = Long.MAX_VALUE;

    SlidingLogModel(Limit limit) {
        super(limit);
    }

    @Override
    boolean untouched(long now) {
        return live(now).signum() == 0;
    }

    @Override
    boolean fits(long cost, long now) {
        return live(now).add(big(cost)).compareTo(big(limit.permits())) <= 0;
    }

    @Override
    Spend spend(long cost, long now) {
        prepare(now);
        Spend spend = new Spend(big(cost));
        spend.micros = now;
        spends.add(spend);
        return spend;
    }

    @Override
    void reject(long now) {
        if (spends.stream().anyMatch(spend -> spend.micros > now)) {
            prepare(now);
        }
    }

    @Override
    void refund(Spend spend, long now) {
        if (counts(spend, now)) {
            spend.amount = BigInteger.ZERO;
        }
    }

    @Override
    void reduce(Spend spend, long less, long now) {
        if (counts(spend, now)) {
            spend.amount = spend.amount.subtract(big(less)).max(BigInteger.ZERO);
        }
    }

    @Override
    void raise(Spend spend, long more, long now) {
        if (spends.contains(spend) && counts(spend, now)) {
            BigInteger most = mostPermits().min(big(Limit.MAX_LOG_PERMITS));
            spend.amount =
                    spend.amount.add(big(more).min(most.subtract(live(now)).max(BigInteger.ZERO)));
        }
    }

    @Override
    void refund(long cost, long now) {
        prepare(now);
        List<Spend> latestFirst = new ArrayList<>(spends);
        Collections.reverse(latestFirst);
        deduct(latestFirst, big(cost));
    }

    @Override
    ReferenceModel asOf(long now) {
        SlidingLogModel model = new SlidingLogModel(limit);
        model.spends.addAll(spends);
        model.latest = now;
        return model;
    }

    @Override
    void reset() {
        spends.clear();
    }

    /** Prepares a write: removes spends that no longer count, and moves spends in the future to now. */
    private void prepare(long now) {
        spends.removeIf(spend -> !counts(spend, now));
        spends.forEach(spend -> spend.micros = Math.min(spend.micros, now));
    }

    private BigInteger live(long now) {
        return sum(spends.stream().filter(spend -> counts(spend, now)).toList());
    }

    private boolean counts(Spend spend, long now) {
        return now - Math.min(spend.micros, latest) < limit.windowMicros();
    }
}
