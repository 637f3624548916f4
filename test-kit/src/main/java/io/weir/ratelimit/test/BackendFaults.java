// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The faults of a backend, and a breaker in front of it. The breaker has the defaults of Redis's: it opens after five failures in a row,
 * until a probe succeeds. There is one probe per second, which no call waits for.
 */
final class BackendFaults {
    private static final int BREAKER_VOLUME = 5;
    private static final Duration BREAKER_DELAY = Duration.ofSeconds(1);

    private final TestClock clock;
    private volatile Duration deadline = Duration.ofDays(1);
    private boolean failing;
    private Duration delay = Duration.ZERO;
    private int failures;
    private boolean open;
    private long probeAtNanos;

    /** Creates a backend that works. */
    BackendFaults(TestClock clock) {
        this.clock = clock;
    }

    void deadline(Duration longestCall) {
        deadline = longestCall;
    }

    synchronized void fail() {
        failing = true;
    }

    synchronized void delay(Duration newDelay) {
        if (newDelay.isNegative()) {
            throw new IllegalArgumentException("the delay must not be negative");
        }
        delay = newDelay;
    }

    synchronized void recover() {
        failing = false;
        delay = Duration.ZERO;
    }

    synchronized void reset() {
        recover();
        failures = 0;
        open = false;
    }

    long nanos() {
        return clock.nanos();
    }

    synchronized RateLimitBackend.Status status(RateLimitBackend.Status healthy) {
        return open ? new RateLimitBackend.Status(healthy.initialized(), true, untilProbe()) : healthy;
    }

    private Duration untilProbe() {
        return Duration.ofNanos(Math.max(0, probeAtNanos - clock.nanos()));
    }

    /** A call: its duration, and its failure after that; null if it succeeds. */
    private record Call(Duration duration, @Nullable BackendException failure) {}

    /** Delays a call on its thread. Fails if the backend fails. */
    void apply() {
        Call call = begin();
        if (!call.duration.isZero()) {
            clock.pause(call.duration);
        }
        BackendException failure = end(call);
        if (failure != null) {
            throw failure;
        }
    }

    /** Delays a call without a thread. */
    CompletionStage<Void> applyAsync() {
        Call call = begin();
        CompletableFuture<Void> delayed = call.duration.isZero()
                ? CompletableFuture.completedFuture(null)
                : clock.timer(call.duration.toNanos() / 1_000);
        return delayed.thenCompose(done -> {
            BackendException failure = end(call);
            return failure == null
                    ? CompletableFuture.completedStage(null)
                    : CompletableFuture.<Void>failedStage(failure);
        });
    }

    private synchronized Call begin() {
        if (open && untilProbe().isZero()) {
            probe();
        }
        if (open) {
            return new Call(
                    Duration.ZERO,
                    new BackendException(Reason.BREAKER_OPEN, "the breaker is open", null, untilProbe()));
        }
        if (failing) {
            return new Call(
                    Duration.ZERO, new BackendException(Reason.CONNECTION, "the test has failed the backend", null));
        }
        return delay.compareTo(deadline) > 0
                ? new Call(deadline, new BackendException(Reason.TIMEOUT, "no reply within " + deadline, null))
                : new Call(delay, null);
    }

    /** Closes the breaker if the backend answers in time, else begins the time until the next probe. */
    private void probe() {
        if (failing || delay.compareTo(deadline) > 0) {
            probeAtNanos = clock.nanos() + BREAKER_DELAY.toNanos();
        } else {
            failures = 0;
            open = false;
        }
    }

    private synchronized @Nullable BackendException end(Call call) {
        BackendException failure = call.failure;
        if (failure == null) {
            failures = 0;
        } else if (failure.reason() != Reason.BREAKER_OPEN) {
            failures++;
            if (failures >= BREAKER_VOLUME) {
                open = true;
                probeAtNanos = clock.nanos() + BREAKER_DELAY.toNanos();
            }
        }
        return failure;
    }
}
