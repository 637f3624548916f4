// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.outgoing;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The budget of retries of one client in this instance. Each ordinary call adds its share of a retry, and each retry takes one. At most
 * {@value #RESERVE} retries are saved, and so many are there at first; after <i>n</i> ordinary calls, at most {@value #RESERVE} + <i>n</i>
 * × share retries have been sent. A share of zero allows no retry.
 */
final class RetryBudget {
    /** The retries that a client without recent ordinary calls can send. */
    static final int RESERVE = 10;

    private static final int WHOLE = 100;

    private final int percent;

    /** The saved retries, in hundredths. */
    private final AtomicLong saved;

    /**
     * Creates a budget.
     *
     * @param percent the share of retries among ordinary calls, from 0 to 100
     */
    RetryBudget(int percent) {
        this.percent = percent;
        this.saved = new AtomicLong(limit());
    }

    private long limit() {
        return percent == 0 ? 0 : (long) RESERVE * WHOLE;
    }

    /** Adds the share of an ordinary call. */
    void addOrdinary() {
        add(percent);
    }

    /** Takes a retry. Returns false if none is left. */
    boolean tryTake() {
        long before = saved.getAndUpdate(left -> left >= WHOLE ? left - WHOLE : left);
        return before >= WHOLE;
    }

    /** Restores the share of a retry that was not sent. */
    void giveBack() {
        add(WHOLE);
    }

    private void add(long hundredths) {
        if (saved.get() < limit()) {
            saved.updateAndGet(left -> Math.min(limit(), left + hundredths));
        }
    }
}
