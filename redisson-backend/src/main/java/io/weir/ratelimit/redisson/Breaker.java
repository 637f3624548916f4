// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendListener;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps calls away from a Redis that does not answer. It counts calls to Redis, each of which may carry many decisions: when so many
 * in a row have failed, it is open, and decisions fail at once for a while. Then one call, and only one whatever the number of
 * callers, finds out whether Redis is back.
 *
 * <p>The breaker of the server has its word, and is what operators tune and watch. It cannot be asked how it is, its half-open state
 * lets any number of callers in on some servers, and each call through it costs as much as a decision. So it is told afterwards how
 * calls have ended, and only while that can change anything: each failure, and after a failure as many successes as it looks back
 * on. When it refuses to be told, it is open, and so is this one. It opens by itself after as many failures in a row as the
 * server's would at the latest, and closes when the server's has taken the success of a probe. Without one it stands alone.
 *
 * <p>The server's breaker is told on threads of callers only, by whoever comes next: the client's threads know no application.
 */
final class Breaker {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** Longer than any call may wait. A probe of which nothing is heard for so long is lost, with the thread that made it, say. */
    private static final long PROBE_IS_LOST_NANOS = TimeUnit.MINUTES.toNanos(2);

    /** One that opens and closes all the time, with a short delay, must not fill the log. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** How a call to Redis ended, as the server's breaker hears of it. */
    interface Platform {
        /** There is none. */
        Platform NONE = failure -> true;

        /** That of MicroProfile Fault Tolerance if this library sees its API. */
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

        /** Takes how a call has ended, null for an answer; false if it takes nothing because it is open. */
        boolean takes(@Nullable BackendException failure);
    }

    private record Outcome(@Nullable BackendException failure, boolean ofProbe) {}

    private final BreakerSettings settings;
    private final Platform platform;
    private final LongSupplier nanoTime;
    private final BackendListener listener;
    private final ConcurrentLinkedQueue<Outcome> untold = new ConcurrentLinkedQueue<>();
    private final ReentrantLock telling = new ReentrantLock();

    private volatile boolean open;

    /** Whether a probe was answered of which the server's has not been told. */
    private volatile boolean answered;

    /** Whether a success changes nothing. */
    private volatile boolean settled = true;

    // Guarded by this.
    private int failedInARow;
    private int successesToTell;
    private int provenSuccesses;
    private boolean probing;
    private long probingSinceNanos;
    private long probeAtNanos;
    private @Nullable Long saidAtNanos;
    private boolean said;

    Breaker(BreakerSettings settings, Platform platform, LongSupplier nanoTime, BackendListener listener) {
        this.settings = settings;
        this.platform = platform;
        this.nanoTime = nanoTime;
        this.listener = listener;
    }

    /** One that never opens. */
    static Breaker never() {
        return new Breaker(BreakerSettings.OFF, Platform.NONE, System::nanoTime, (checks, keysWaiting) -> {});
    }

    boolean isOpen() {
        return open;
    }

    /** Whether what is not a probe must not leave. Whoever made a probe that was answered goes on, also before a caller has told of it. */
    boolean keepsBack() {
        return open && !answered;
    }

    /** Asked by each call before it goes to Redis, on the caller's thread: throws if it must not. */
    void pass() {
        if (mayNeedProbe()) {
            throw denied();
        }
    }

    /** As {@link #pass}, for a call that can be the probe: false if it is, and must say what came of it. */
    boolean passOrProbe() {
        if (!mayNeedProbe()) {
            return true;
        }
        synchronized (this) {
            if (!open) {
                return true;
            }
            long now = nanoTime.getAsLong();
            boolean outstanding = probing && now - probingSinceNanos < PROBE_IS_LOST_NANOS;
            if (!outstanding && now - probeAtNanos >= 0) {
                probing = true;
                probingSinceNanos = now;
                return false;
            }
        }
        throw denied();
    }

    private boolean mayNeedProbe() {
        tell();
        return open;
    }

    /** What callers are told while it is open. */
    BackendException denied() {
        return new BackendException(
                Reason.BREAKER_OPEN, "Redis failed too often in a row and is not asked", null, untilProbe());
    }

    /** How long until a call may be the probe; zero if the next one may, or if it is closed. */
    synchronized Duration untilProbe() {
        return open ? Duration.ofNanos(Math.max(0, probeAtNanos - nanoTime.getAsLong())) : Duration.ZERO;
    }

    /** Takes note of how a call to Redis has ended, on any thread; null for an answer. */
    void landed(@Nullable BackendException failure) {
        // Until there was a connection, a call costs nothing, and it is sought in the background.
        if (open || (failure == null && settled) || (failure != null && failure.reason() == Reason.NOT_READY)) {
            return;
        }
        synchronized (this) {
            if (open || !settings.enabled()) {
                return;
            }
            if (failure == null) {
                failedInARow = 0;
                successesToTell--;
                settled = successesToTell <= 0;
            } else {
                failedInARow++;
                successesToTell = settings.volume();
                settled = false;
            }
            untold.add(new Outcome(failure, false));
            if (failure != null && failedInARow >= settings.volume()) {
                open(failedInARow + " calls to Redis failed in a row, the last one with "
                        + failure.reason().tag() + ", " + failure.getMessage());
            }
        }
    }

    /** Takes note of how the probe has ended, on any thread; null for an answer. */
    void probed(@Nullable BackendException failure) {
        answered = failure == null;
        untold.add(new Outcome(failure, true));
    }

    /** Tells the server's breaker what has ended; on threads of callers. */
    void tell() {
        while (answered ? tellsInTurn() : !untold.isEmpty() && telling.tryLock()) {
            try {
                for (Outcome next = untold.poll(); next != null; next = untold.poll()) {
                    told(next, platform.takes(next.failure));
                }
            } finally {
                telling.unlock();
            }
        }
    }

    /** Nobody finds it open who comes when a probe was answered: the moment that telling of it takes is waited for. */
    private boolean tellsInTurn() {
        telling.lock();
        return true;
    }

    private synchronized void told(Outcome outcome, boolean taken) {
        if (outcome.ofProbe) {
            probing = false;
            answered = false;
            if (outcome.failure != null) {
                provenSuccesses = 0;
                probeIn(settings.delay());
            } else if (!taken) {
                probeIn(settings.delay().dividedBy(10));
            } else if (++provenSuccesses >= settings.successes()) {
                close();
            } else {
                probeIn(Duration.ZERO);
            }
        } else if (!taken && !open) {
            open("that of MicroProfile Fault Tolerance is");
        } else if (outcome.failure != null && open) {
            // The server's counts its delay from now.
            probeIn(settings.delay());
        }
    }

    private void probeIn(Duration wait) {
        probeAtNanos = nanoTime.getAsLong() + wait.toNanos();
    }

    private void open(String why) {
        open = true;
        probing = false;
        provenSuccesses = 0;
        probeIn(settings.delay());
        long now = nanoTime.getAsLong();
        said = saidAtNanos == null || now - saidAtNanos >= QUIET_NANOS;
        saidAtNanos = said ? Long.valueOf(now) : saidAtNanos;
        LOG.log(
                said ? Level.WARNING : Level.DEBUG,
                "WEIR-416 the breaker is open: {0}; Redis is not asked, but for one call after each {1} s",
                why,
                String.valueOf(settings.delay().toMillis() / 1e3));
        change(true);
    }

    private void close() {
        open = false;
        settled = true;
        failedInARow = 0;
        successesToTell = 0;
        LOG.log(said ? Level.INFO : Level.DEBUG, "WEIR-418 the breaker is closed: Redis answered a call");
        change(false);
    }

    /** Whatever a listener does, the breaker works. */
    private void change(boolean opened) {
        try {
            listener.onBreaker(opened);
        } catch (RuntimeException | LinkageError e) {
            LOG.log(Level.DEBUG, "who listens to the breaker failed", e);
        }
    }
}
