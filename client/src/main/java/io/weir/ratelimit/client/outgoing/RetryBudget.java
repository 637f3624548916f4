// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * The part of this instance in the budget of retries of one client. Each ordinary call adds its share of a retry, each second adds one, and
 * each retry takes one. At most {@value #RESERVE} retries are saved, and so many are there at first. The instances share the retries that
 * are saved and those of each second; each can save one. The retry of each second is for a caller that polls a failing upstream, which is no
 * storm. A share of zero allows no retry.
 */
final class RetryBudget {
    /** The retries that a client without recent calls can send. */
    static final int RESERVE = 10;

    private static final int WHOLE = 100;

    /** A retry, in the nanoseconds after which it is saved without ordinary calls. */
    private static final long RETRY = TimeUnit.SECONDS.toNanos(1);

    private final int percent;
    private final IntSupplier instances;
    private final LongSupplier nanoTime;
    private final Object lock = new Object();
    private long saved;
    private long since;

    /**
     * Creates a budget.
     *
     * @param percent the share of retries among ordinary calls, from 0 to 100
     * @param instances the number of instances that share the budget, 1 or more
     */
    RetryBudget(int percent, IntSupplier instances, LongSupplier nanoTime) {
        this.percent = percent;
        this.instances = instances;
        this.nanoTime = nanoTime;
        this.since = nanoTime.getAsLong();
        this.saved = RESERVE * RETRY;
    }

    /** Adds the share of an ordinary call. */
    void addOrdinary() {
        add(RETRY / WHOLE * percent);
    }

    /** Takes a retry. Returns false if none is left. */
    boolean tryTake() {
        synchronized (lock) {
            add(0);
            boolean left = percent > 0 && saved >= RETRY;
            saved -= left ? RETRY : 0;
            return left;
        }
    }

    /** Restores the share of a retry that was not sent. */
    void giveBack() {
        add(RETRY);
    }

    private void add(long nanos) {
        synchronized (lock) {
            long now = nanoTime.getAsLong();
            // The time of another thread can be later.
            long sharers = instances.getAsInt();
            long earned = Math.max(0, now - since) / sharers;
            since += earned * sharers;
            long reserve = Math.max(RETRY, RESERVE * RETRY / sharers);
            saved = Math.min(reserve, saved + earned + nanos);
        }
    }
}
