// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendStatus;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** How the store is, as information, and whether an instance without it is ready. */
public final class StoreHealth {
    /** How often at most a store that is away is asked only to find out whether it is back. */
    private static final long BETWEEN_PROBES_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A key of no caller's: their identities begin with a kind. Spent and not read, since some failures keep only writers out. */
    private static final List<Charge> PROBE = List.of(new Charge(
            new PolicyLimits(
                    "health", List.of(Limit.of(Algorithm.FIXED_WINDOW, Limit.MAX_PERMITS, Duration.ofSeconds(1)))),
            "health",
            1));

    /** How the store is. */
    public enum State {
        /** It decides. */
        UP,
        /** It has failed lately; failure modes decide instead. */
        DEGRADED,
        /** It has never been ready to decide. */
        CONNECTING,
        /** Nothing is limited. */
        OFF;

        /**
         * The name in health data.
         *
         * @return the name, such as {@code up}
         */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * What is known about a store at the moment.
     *
     * @param backend its name
     * @param state how it is
     * @param breakerOpen whether it is not asked because it failed too often in a row
     * @param untilProbe how long until an open breaker lets one call find out whether it is back
     * @param lastFailure why it failed last, such as {@code timeout}; empty if it never did
     * @param lastFailureSecondsAgo seconds since then, 0 if it never did
     * @param degradedDecisions how many decisions were taken without it
     * @param ready whether an instance is to be asked by clients
     */
    public record Report(
            String backend,
            State state,
            boolean breakerOpen,
            Duration untilProbe,
            Optional<String> lastFailure,
            long lastFailureSecondsAgo,
            long degradedDecisions,
            boolean ready) {}

    private final RateLimitBackend backend;
    private final Outages outages;
    private final boolean on;
    private final boolean failsWhenDegraded;
    private final LongSupplier nanoTime;
    private final AtomicLong lastProbeNanos;

    /**
     * The health of a store.
     *
     * @param backend the store
     * @param outages knows its failures
     * @param on whether anything is limited
     * @param failsWhenDegraded whether an instance without its store is not ready
     * @param nanoTime a monotonic clock
     */
    public StoreHealth(
            RateLimitBackend backend, Outages outages, boolean on, boolean failsWhenDegraded, LongSupplier nanoTime) {
        this.backend = backend;
        this.outages = outages;
        this.on = on;
        this.failsWhenDegraded = failsWhenDegraded && on;
        this.nanoTime = nanoTime;
        this.lastProbeNanos = new AtomicLong(nanoTime.getAsLong() - BETWEEN_PROBES_NANOS);
    }

    /**
     * How the store is, without asking it.
     *
     * @return what is known
     */
    public Report report() {
        BackendStatus status = backend.status();
        return new Report(
                backend.name(),
                state(status),
                status.breakerOpen(),
                status.untilProbe(),
                outages.lastFailure(),
                outages.lastFailureSecondsAgo(),
                outages.degradedDecisions(),
                !failsWhenDegraded || isReady(status));
    }

    private State state(BackendStatus status) {
        if (!on) {
            return State.OFF;
        }
        if (!status.connected()) {
            return State.CONNECTING;
        }
        return outages.away() || status.breakerOpen() ? State.DEGRADED : State.UP;
    }

    /** A key that cannot be decided about, or a flood of keys, must not take an instance from all other callers. */
    private boolean isReady(BackendStatus status) {
        return status.connected() && !status.breakerOpen() && !outages.awayForAll();
    }

    /**
     * As {@link #report}. Where the answer can take the clients from this instance, and with them the calls that would find out
     * whether the store is back, this finds it out: at most once a second, and within the store's deadline.
     *
     * @return what is known then
     */
    public Report readiness() {
        BackendStatus status = backend.status();
        if (failsWhenDegraded && status.connected() && !isReady(status) && isDue(status)) {
            probe();
        }
        return report();
    }

    private boolean isDue(BackendStatus status) {
        if (status.breakerOpen() && !status.untilProbe().isZero()) {
            return false;
        }
        long now = nanoTime.getAsLong();
        long last = lastProbeNanos.get();
        return now - last >= BETWEEN_PROBES_NANOS && lastProbeNanos.compareAndSet(last, now);
    }

    private void probe() {
        try {
            backend.acquire(PROBE);
            outages.answered();
        } catch (RuntimeException e) {
            failed(DecidingStore.known(e));
        }
        outages.tellChanges();
    }

    /** A store that finds something strange under this one key decides about all others. */
    private void failed(BackendException failure) {
        if (failure.reason() == Reason.FOREIGN_STATE) {
            outages.errorOf(failure);
            outages.answered();
        } else {
            outages.probeFailed(failure);
        }
    }
}
