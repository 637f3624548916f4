// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.core.events.GuardedListeners;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The health of the backend, derived from the answers and failures of its operations.
 *
 * <p>An outage begins with a failure and ends with an answer after a time without failures. Its begin and its end are each logged
 * once and reported once, so an outage does not flood the log. Foreign state under a key is an answer about that key and no outage.
 */
public final class BackendHealth {
    /** A backend that answers every other call is still unavailable, so an outage ends after this time without a failure. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** If the backend is full for some keys, calls for other keys succeed in between. */
    private static final long QUIET_NANOS_OF_SOME_KEYS = TimeUnit.MINUTES.toNanos(1);

    /** The state of the backend. */
    public enum State {
        /** The backend decides. */
        UP,
        /** The backend has failed recently; the failure modes of the policies apply. */
        DEGRADED,
        /** The backend has never been ready. */
        CONNECTING,
        /** Limits are disabled. */
        OFF;

        /** Returns the name in health data, such as {@code up}. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The health at one moment.
     *
     * @param breakerOpen whether the circuit breaker is open, so that the backend is not called
     * @param probeAfter the time until the backend behind an open breaker is probed
     * @param lastFailure the reason of the last failure, such as {@code timeout}; empty if there was none
     * @param lastFailureSecondsAgo seconds since the last failure, 0 if there was none
     * @param leases the number of keys for which this instance holds a lease
     */
    public record Report(
            String backend,
            State state,
            boolean breakerOpen,
            Duration probeAfter,
            Optional<String> lastFailure,
            long lastFailureSecondsAgo,
            long degradedDecisions,
            boolean ready,
            int leases) {}

    private record Outage(long sinceNanos, DegradedDecisions.Totals before) {}

    private record Failure(Reason reason, long atNanos) {}

    private final RateLimitBackend backend;
    private final boolean enabled;
    private final boolean failsWhenDegraded;
    private final LongSupplier nanoTime;
    private final ReadinessProbe probe;
    private final DegradedDecisions degraded = new DegradedDecisions();
    private final GuardedListeners<BackendStateListener> listeners;
    private final Queue<BackendStateChanged> changes = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean notifying = new AtomicBoolean();

    private volatile @Nullable Outage outage;
    private volatile long lastFailureNanos;
    private volatile long quietNanos = QUIET_NANOS;
    private volatile boolean failsForAllKeys;
    private volatile long lastFailureForAllKeysNanos;
    private volatile @Nullable Failure lastFailure;

    /**
     * Creates the health of a backend that has not failed, by a monotonic clock.
     *
     * @param failsWhenDegraded whether an instance is not ready while its backend is unavailable
     */
    public BackendHealth(
            RateLimitBackend backend,
            boolean enabled,
            boolean failsWhenDegraded,
            LongSupplier nanoTime,
            List<BackendStateListener> listeners) {
        this.backend = backend;
        this.enabled = enabled;
        this.failsWhenDegraded = failsWhenDegraded && enabled;
        this.nanoTime = nanoTime;
        this.probe = new ReadinessProbe(backend, nanoTime);
        this.listeners = new GuardedListeners<>(listeners);
    }

    /** Returns whether a failure concerns only the keys of its call. */
    public static boolean concernsSomeKeys(BackendException failure) {
        return failure.reason() == Reason.FOREIGN_STATE || failure.reason() == Reason.FULL;
    }

    /** Returns the health without calling the backend. */
    public Report report() {
        RateLimitBackend.Status status = backend.status();
        Failure failure = lastFailure;
        return new Report(
                backend.name(),
                state(status),
                status.breakerOpen(),
                status.probeAfter(),
                Optional.ofNullable(failure).map(last -> last.reason.tag()),
                failure == null ? 0 : TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - failure.atNanos),
                degraded.totals().sum(),
                !failsWhenDegraded || isReady(status),
                status.leases());
    }

    private State state(RateLimitBackend.Status status) {
        if (!enabled) {
            return State.OFF;
        }
        if (!status.initialized()) {
            return State.CONNECTING;
        }
        return isUnavailable() || status.breakerOpen() ? State.DEGRADED : State.UP;
    }

    /** Returns whether the instance is ready. It stays ready if the backend fails for some keys only. */
    private boolean isReady(RateLimitBackend.Status status) {
        return status.initialized() && !status.breakerOpen() && !failsForAllKeys;
    }

    /**
     * Returns the health. If the instance is not ready, this probes the backend, at most once a second: clients that avoid the instance
     * send no calls that could find the backend available again.
     */
    public Report readiness() {
        RateLimitBackend.Status status = backend.status();
        if (failsWhenDegraded && status.initialized() && !isReady(status) && probe.isDue(status)) {
            probe();
        }
        return report();
    }

    private void probe() {
        Optional<BackendException> failure = probe.run();
        if (failure.isEmpty()) {
            succeeded();
        } else if (concernsOneKey(failure.get())) {
            operationFailed(failure.get());
            succeeded();
        } else {
            unavailable(failure.get());
            if (failure.get().reason() != Reason.BREAKER_OPEN) {
                lastFailure = new Failure(failure.get().reason(), lastFailureNanos);
            }
            operationFailed(failure.get());
        }
        notifyChanges();
    }

    /** Returns the time of the monotonic clock. */
    long nanos() {
        return nanoTime.getAsLong();
    }

    /** Returns whether an outage is in progress. */
    public boolean isUnavailable() {
        return outage != null;
    }

    /** Records an answer. While the breaker is open, an answer comes from memory and does not end an outage. */
    void answered() {
        if ((outage != null || failsForAllKeys) && !backend.status().breakerOpen()) {
            succeeded();
        }
    }

    private void succeeded() {
        // Also without an outage, because another thread can end the outage while a failure is being recorded.
        if (failsForAllKeys && nanoTime.getAsLong() - lastFailureForAllKeysNanos >= QUIET_NANOS) {
            failsForAllKeys = false;
        }
        if (outage != null && isQuiet()) {
            end();
        }
    }

    private boolean isQuiet() {
        return nanoTime.getAsLong() - lastFailureNanos >= quietNanos;
    }

    private synchronized void end() {
        if (isQuiet()) {
            endOutage();
        }
    }

    /** Ends an outage at once, because the backend begins anew, as between two tests of an application. */
    public void reset() {
        endOutage();
        failsForAllKeys = false;
        lastFailure = null;
        notifyChanges();
    }

    private synchronized void endOutage() {
        Outage ended = outage;
        if (ended != null) {
            outage = null;
            failsForAllKeys = false;
            changes.add(new BackendStateChanged(backend.name(), true, ""));
            DegradedDecisions.Totals decisions = degraded.totals().since(ended.before);
            MESSAGES.log(
                    "WEIR-302",
                    backend.name(),
                    TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - ended.sinceNanos),
                    decisions.sum(),
                    decisions.text());
        }
    }

    /** Records that the backend failed to decide. An open breaker is no failure of the backend. */
    void decisionFailed(BackendException failure) {
        decidedWithoutBackend(failure);
        if (concernsOneKey(failure)) {
            operationFailed(failure);
        } else if (failure.reason() != Reason.BREAKER_OPEN) {
            lastFailure = new Failure(failure.reason(), lastFailureNanos);
            operationFailed(failure);
        }
    }

    private static boolean concernsOneKey(BackendException failure) {
        return failure.reason() == Reason.FOREIGN_STATE;
    }

    /** Records a decision without a call of the backend, because of an earlier failure. */
    void decidedWithoutBackend(BackendException failure) {
        if (!concernsOneKey(failure)) {
            unavailable(failure);
        }
        degraded.increment(failure.reason());
    }

    private void unavailable(BackendException failure) {
        lastFailureNanos = nanoTime.getAsLong();
        quietNanos = concernsSomeKeys(failure) ? QUIET_NANOS_OF_SOME_KEYS : QUIET_NANOS;
        if (outage == null) {
            begin(failure);
        }
        if (!concernsSomeKeys(failure)) {
            lastFailureForAllKeysNanos = lastFailureNanos;
            failsForAllKeys = true;
        }
    }

    private synchronized void begin(BackendException failure) {
        if (outage == null) {
            outage = new Outage(lastFailureNanos, degraded.totals());
            changes.add(new BackendStateChanged(
                    backend.name(), false, failure.reason().tag()));
            MESSAGES.log("WEIR-301", backend.name(), failure.reason().tag(), failure.getMessage());
        }
    }

    /** Notifies the listeners of a failure. */
    void operationFailed(BackendException failure) {
        listeners.notifyEach(BackendStateListener::onError, failure);
    }

    /**
     * Notifies the listeners of changes of the state, in order. If another thread is notifying, this leaves the changes to that
     * thread.
     */
    void notifyChanges() {
        while (!changes.isEmpty() && notifying.compareAndSet(false, true)) {
            try {
                for (BackendStateChanged next = changes.poll(); next != null; next = changes.poll()) {
                    listeners.notifyEach(BackendStateListener::onChange, next);
                }
            } finally {
                notifying.set(false);
            }
        }
    }
}
