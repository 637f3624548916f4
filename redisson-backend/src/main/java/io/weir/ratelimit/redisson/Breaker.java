// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.BreakerState.Phase;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendListener;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Circuit breaker in front of Redis. It counts batches, each of which may carry many requests. While it is open, calls fail at once, and
 * the {@link Prober} probes Redis after each delay. The delay is a second at most: a probe costs no call, and slots, settlements and
 * runtime changes wait for the recovery.
 *
 * <p>The platform's breaker, that of MicroProfile Fault Tolerance, is the one that operators tune and observe. It does not reveal its
 * state, on some servers it lets any number of calls through while half-open, and a call through it costs as much as a decision. Therefore
 * outcomes are reported to it afterwards, and only while they can change its state: each failure, and after a failure as many successes as
 * it looks back on. Its delay is always the configured one, so it receives the failures of an open breaker only if that is the delay of
 * this breaker as well. Threads of the Redis client and of timers have no application context, so outcomes are reported on the threads of
 * callers. If the platform's breaker rejects a report, it is open, and this breaker opens as well, for the configured delay.
 *
 * <p>The breaker is open in the phases delay, probe and report.
 *
 * <table>
 *   <caption>Transitions</caption>
 *   <tr><th>Phase</th><th>Event</th><th>Next phase</th></tr>
 *   <tr><td>closed</td><td>success, no failure is recent</td><td>closed</td></tr>
 *   <tr><td>closed</td><td>success, a failure is recent</td><td>closed, no failure in a row, one report less to make</td></tr>
 *   <tr><td>closed</td><td>failure, fewer in a row than the volume</td><td>closed, one failure more</td></tr>
 *   <tr><td>closed</td><td>failure in the first second of the first connection</td><td>closed</td></tr>
 *   <tr><td>closed</td><td>failure, as many in a row as the volume</td><td>the delay, a second at most</td></tr>
 *   <tr><td>closed</td><td>platform rejects a report</td><td>the configured delay</td></tr>
 *   <tr><td>delay</td><td>the delay has passed</td><td>probe</td></tr>
 *   <tr><td>probe</td><td>no outcome within two minutes</td><td>probe: another one replaces the lost one</td></tr>
 *   <tr><td>probe</td><td>failure of the probe</td><td>the same delay; no success in a row</td></tr>
 *   <tr><td>probe</td><td>success, the platform's breaker is not open, enough in a row</td><td>closed</td></tr>
 *   <tr><td>probe</td><td>success, the platform's breaker is not open, too few in a row</td><td>delay of zero</td></tr>
 *   <tr><td>probe</td><td>success, the platform's breaker can be open</td><td>report: calls are sent again</td></tr>
 *   <tr><td>report</td><td>platform accepts the success, enough in a row</td><td>closed</td></tr>
 *   <tr><td>report</td><td>platform accepts the success, too few in a row</td><td>delay of zero</td></tr>
 *   <tr><td>report</td><td>platform rejects the success</td><td>a tenth of the configured delay</td></tr>
 *   <tr><td>delay, probe, report</td><td>failure of an earlier call or probe is reported</td><td>unchanged, but the
 *       configured delay starts anew</td></tr>
 * </table>
 */
final class Breaker {
    /** No call may wait for as long. A probe without an outcome after this time is lost. */
    private static final long PROBE_TIMEOUT_NANOS = TimeUnit.MINUTES.toNanos(2);

    /** The time after the first connection in which slow calls are no sign of an outage: they run cold code. */
    private static final long COLD_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The least time between two calls that could be decided from memory, while the latest call failed. */
    private static final long TRY_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The breaker of the platform. */
    interface Platform {
        /** No breaker. */
        Platform NONE = failure -> true;

        /** Returns the breaker of MicroProfile Fault Tolerance if its API is visible to this library. */
        static Platform of(RedisGuard guard) {
            try {
                Class.forName(
                        "org.eclipse.microprofile.faulttolerance.exceptions.CircuitBreakerOpenException",
                        false,
                        Breaker.class.getClassLoader());
                return new PlatformBreaker(guard);
            } catch (ClassNotFoundException | LinkageError e) {
                return NONE;
            }
        }

        /** Reports the failure of a call, null for a success. Returns false if the breaker is open and rejects the report. */
        boolean report(@Nullable BackendException failure);
    }

    /** The outcome of a call, whose failure is null for a success. */
    record Outcome(@Nullable BackendException failure, boolean ofProbe) {}

    private final BreakerSettings settings;
    private final Platform platform;
    private final LongSupplier nanoTime;
    private final BreakerEvents events;
    private final AtomicLong lastTryNanos;
    private volatile @Nullable Long connectedNanos;
    private volatile Runnable onDelay = () -> {};
    private final AtomicReference<BreakerState> state = new AtomicReference<>(BreakerState.NEW);

    /** Held while the breaker opens or closes, so that listeners are notified in order. */
    private final ReentrantLock changing = new ReentrantLock();

    /** Outcomes that are yet to be reported to the platform. */
    private final ConcurrentLinkedQueue<Outcome> outcomes = new ConcurrentLinkedQueue<>();

    private final ReentrantLock reporting = new ReentrantLock();

    Breaker(BreakerSettings settings, Platform platform, LongSupplier nanoTime, BackendListener listener) {
        this.settings = settings;
        this.platform = platform;
        this.nanoTime = nanoTime;
        this.lastTryNanos = new AtomicLong(nanoTime.getAsLong() - TRY_INTERVAL_NANOS);
        this.events = new BreakerEvents(nanoTime, listener);
    }

    /** Returns a breaker that never opens. */
    static Breaker disabled() {
        return new Breaker(BreakerSettings.OFF, Platform.NONE, System::nanoTime, (requests, waitingKeys) -> {});
    }

    /** Sets what begins when the breaker opens, and whenever another delay begins without a probe in flight. */
    void onDelay(Runnable action) {
        onDelay = action;
    }

    /** Records that the first connection exists. */
    void connected() {
        connectedNanos = nanoTime.getAsLong();
    }

    private boolean isCold() {
        Long connected = connectedNanos;
        return connected != null && nanoTime.getAsLong() - connected < COLD_NANOS;
    }

    private BreakerState state() {
        return Objects.requireNonNull(state.get());
    }

    boolean isOpen() {
        return state().isOpen();
    }

    /**
     * Returns whether calls that can be decided from memory are not sent: the breaker is open, or the latest call failed. In the latter
     * case some of them are sent, since otherwise nothing would show that Redis is available again.
     */
    boolean avoidsCalls() {
        BreakerState before = state();
        if (before.isOpen()) {
            return rejectsCalls(before);
        }
        if (before.failures() == 0) {
            return false;
        }
        long now = nanoTime.getAsLong();
        long last = lastTryNanos.get();
        return now - last < TRY_INTERVAL_NANOS || !lastTryNanos.compareAndSet(last, now);
    }

    /** Returns whether calls other than a probe must not be sent. After a successful probe they may, even before that is reported. */
    boolean rejectsCalls() {
        return rejectsCalls(state());
    }

    private static boolean rejectsCalls(BreakerState now) {
        return now.isOpen() && now.phase() != Phase.REPORT;
    }

    /** Reports outcomes on the caller's thread. Throws a {@link BackendException} if the breaker is open. */
    void requireClosed() {
        reportOutcomes();
        if (isOpen()) {
            throw openException();
        }
    }

    /** Begins a probe if one is due. The prober then sends it and records its outcome. */
    boolean beginsProbe() {
        BreakerState before = state();
        if (!before.isOpen()) {
            return false;
        }
        long now = nanoTime.getAsLong();
        boolean inFlight = before.phase() != Phase.DELAY && now - before.probeStartNanos() < PROBE_TIMEOUT_NANOS;
        return !inFlight && now - before.probeAtNanos() >= 0 && state.compareAndSet(before, before.withProbe(now));
    }

    /** Returns the failure of calls while the breaker is open. */
    BackendException openException() {
        return new BackendException(
                Reason.BREAKER_OPEN,
                "The breaker is open, since calls to Redis failed. Redis was not called.",
                null,
                probeAfter());
    }

    /** Returns the time until a probe is due; zero if it is due, or the breaker is closed. */
    Duration probeAfter() {
        BreakerState now = state();
        return now.isOpen() ? Duration.ofNanos(Math.max(0, now.probeAtNanos() - nanoTime.getAsLong())) : Duration.ZERO;
    }

    /** Records the outcome of a batch, on any thread; null for a success. */
    void record(@Nullable BackendException failure) {
        // A failure to connect costs callers no time, and the client connects in the background.
        if (!settings.enabled() || (failure != null && (failure.reason() == Reason.NOT_READY || isCold()))) {
            return;
        }
        boolean recorded = false;
        while (!recorded) {
            BreakerState before = state();
            if (before.isOpen() || (failure == null && before.unreported() == 0)) {
                return;
            }
            BreakerState after = failure == null ? before.afterSuccess() : before.afterFailure(settings.volume());
            if (failure != null && after.failures() >= settings.volume()) {
                long delay = settings.firstDelay().toNanos();
                recorded = open(before, BreakerEvents.cause(after.failures(), failure), delay);
            } else {
                recorded = state.compareAndSet(before, after);
            }
        }
        outcomes.add(new Outcome(failure, false));
    }

    /** Records the outcome of a probe, on any thread; null for a success. */
    void recordProbe(@Nullable BackendException failure) {
        if (failure != null) {
            applyReport(new Outcome(failure, true), true);
            // One is enough to open the platform's breaker again, and without callers they would pile up.
            if (mayBeOpenOnPlatform() && outcomes.isEmpty()) {
                outcomes.add(new Outcome(failure, false));
            }
        } else if (mayBeOpenOnPlatform()) {
            boolean recorded = false;
            while (!recorded) {
                BreakerState before = state();
                recorded = !before.isOpen() || state.compareAndSet(before, before.withReport());
            }
            outcomes.add(new Outcome(null, true));
        } else {
            applyReport(new Outcome(null, true), true);
            outcomes.add(new Outcome(null, false));
        }
    }

    /** Returns whether the platform's breaker may have opened with this one. */
    private boolean mayBeOpenOnPlatform() {
        return platform != Platform.NONE && settings.isLongest(state().delayNanos());
    }

    /**
     * Reports outcomes to the platform's breaker, on a thread of a caller. If a probe has succeeded, the report is awaited, so that no
     * call fails after it.
     */
    void reportOutcomes() {
        while (state().phase() == Phase.REPORT ? lockReporting() : !outcomes.isEmpty() && reporting.tryLock()) {
            try {
                for (Outcome next = outcomes.poll(); next != null; next = outcomes.poll()) {
                    applyReport(next, report(next));
                }
            } finally {
                reporting.unlock();
            }
        }
    }

    private boolean lockReporting() {
        reporting.lock();
        return true;
    }

    /** Reports an outcome to the platform's breaker, unless that would open it for longer than this one. */
    private boolean report(Outcome outcome) {
        BreakerState now = state();
        boolean opensForLonger = outcome.failure != null && now.isOpen() && !settings.isLongest(now.delayNanos());
        return opensForLonger || platform.report(outcome.failure);
    }

    private void applyReport(Outcome outcome, boolean accepted) {
        boolean applied = false;
        while (!applied) {
            BreakerState before = state();
            if (before.isOpen()) {
                BreakerState after = before.afterReport(outcome, accepted, nanoTime.getAsLong(), settings);
                applied = after.isOpen() ? state.compareAndSet(before, after) : close(before, after);
                if (applied && outcome.ofProbe && after.phase() == Phase.DELAY) {
                    onDelay.run();
                }
            } else {
                applied = accepted
                        || outcome.ofProbe
                        || open(
                                before,
                                "the breaker of MicroProfile Fault Tolerance is open",
                                settings.delay().toNanos());
            }
        }
    }

    private boolean open(BreakerState before, String cause, long delayNanos) {
        changing.lock();
        try {
            long probeAt = nanoTime.getAsLong() + delayNanos;
            boolean opened = state.compareAndSet(before, BreakerState.delay(probeAt, 0, delayNanos));
            if (opened) {
                events.opened(cause, delayNanos);
                onDelay.run();
            }
            return opened;
        } finally {
            changing.unlock();
        }
    }

    private boolean close(BreakerState before, BreakerState after) {
        changing.lock();
        try {
            boolean closed = state.compareAndSet(before, after);
            if (closed) {
                events.closed();
            }
            return closed;
        } finally {
            changing.unlock();
        }
    }
}
