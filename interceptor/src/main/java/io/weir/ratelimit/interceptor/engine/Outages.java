// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Counts what was decided without the store, and says so once when the store stops answering and once when it answers again: a
 * store that is away must not flood the log as well.
 */
public final class Outages {
    /** A store that answers every other call is still away; so an outage ends after this much time without a failure. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Where only some keys fail, calls for others succeed in between. */
    private static final long QUIET_KEY_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final String backend;
    private final LongSupplier nanoTime;
    private final Audience<StoreListener> listeners;
    private final Queue<BackendStateChanged> changes = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean telling = new AtomicBoolean();
    private final LongAdder degraded = new LongAdder();

    private volatile boolean away;
    private long sinceNanos;
    private volatile long lastFailureNanos;
    private volatile long quietNanos = QUIET_NANOS;
    private long degradedBefore;

    /**
     * A store that answers.
     *
     * @param backend the store's name
     * @param nanoTime a monotonic clock
     * @param listeners hear of failures and changes
     */
    public Outages(String backend, LongSupplier nanoTime, List<StoreListener> listeners) {
        this.backend = backend;
        this.nanoTime = nanoTime;
        this.listeners = new Audience<>(listeners);
    }

    /**
     * How many decisions were taken without the store since the start.
     *
     * @return the count
     */
    public long degradedDecisions() {
        return degraded.sum();
    }

    /**
     * Whether the store is taken to be away.
     *
     * @return true from the first failure until it has answered and not failed for a second
     */
    public boolean away() {
        return away;
    }

    /** The store answered. */
    void answered() {
        if (away && isQuiet()) {
            end();
        }
    }

    private boolean isQuiet() {
        return nanoTime.getAsLong() - lastFailureNanos >= quietNanos;
    }

    private synchronized void end() {
        if (away && isQuiet()) {
            away = false;
            changes.add(new BackendStateChanged(backend, true, ""));
            long seconds = TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - sinceNanos);
            LOG.log(
                    Level.INFO,
                    "WEIR-302 the rate limit store {0} answers again after {1} s; {2} decisions were taken without it",
                    backend,
                    String.valueOf(seconds),
                    String.valueOf(degraded.sum() - degradedBefore));
        }
    }

    /** The store could not decide. */
    void failed(BackendException failure) {
        lastFailureNanos = nanoTime.getAsLong();
        quietNanos = failure.reason() == Reason.FOREIGN_STATE || failure.reason() == Reason.FULL
                ? QUIET_KEY_NANOS
                : QUIET_NANOS;
        if (!away) {
            begin(failure);
        }
        degraded.increment();
        errorOf(failure);
    }

    private synchronized void begin(BackendException failure) {
        if (!away) {
            away = true;
            sinceNanos = lastFailureNanos;
            degradedBefore = degraded.sum();
            changes.add(new BackendStateChanged(backend, false, failure.reason().tag()));
            LOG.log(
                    Level.WARNING,
                    "WEIR-301 the rate limit store {0} does not decide ({1}: {2}); until it does, each policy''s on-failure decides",
                    backend,
                    failure.reason().tag(),
                    failure.getMessage());
        }
    }

    /** An operation that is no decision failed. */
    void errorOf(BackendException failure) {
        listeners.tell(StoreListener::onError, failure);
    }

    /**
     * Tells of changes in the order in which they came, whichever threads found them. A thread that comes while another one tells
     * leaves its change to that one and goes on.
     */
    void tellChanges() {
        while (!changes.isEmpty() && telling.compareAndSet(false, true)) {
            try {
                for (BackendStateChanged next = changes.poll(); next != null; next = changes.poll()) {
                    listeners.tell(StoreListener::onChange, next);
                }
            } finally {
                telling.set(false);
            }
        }
    }
}
