// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.client.RedisFailures;
import io.weir.ratelimit.redisson.lease.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Probes Redis in the background while the breaker is open. No call pays for a probe, and an instance without calls sees the recovery as
 * well: it renews and releases slots, settles, and reads runtime changes again. There is no timer while the breaker is closed.
 */
final class Prober {
    private final Breaker breaker;
    private final Timer timer;
    private final Supplier<CompletableFuture<?>> probe;
    private final AtomicBoolean running = new AtomicBoolean();
    private volatile boolean closed;

    /** Creates a prober of a breaker. A probe completes by the deadline of a call. */
    Prober(Breaker breaker, Timer timer, Supplier<CompletableFuture<?>> probe) {
        this.breaker = breaker;
        this.timer = timer;
        this.probe = probe;
        breaker.onDelay(this::start);
    }

    private void start() {
        if (!closed && running.compareAndSet(false, true)) {
            scheduleNext();
        }
    }

    private void scheduleNext() {
        timer.runAfter(breaker.probeAfter().toNanos(), this::run);
    }

    private void run() {
        if (closed) {
            return;
        }
        if (breaker.beginsProbe()) {
            CompletionStage<?> sent = send();
            sent.whenComplete((reply, failure) -> {
                breaker.recordProbe(RedisFailures.ofProbe(failure));
                next();
            });
        } else {
            next();
        }
    }

    private CompletableFuture<?> send() {
        try {
            return probe.get();
        } catch (RuntimeException | Error e) { // without a next probe, the breaker would stay open
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Continues while calls are rejected. After a successful probe, the next caller's report closes the breaker or delays it again. */
    private void next() {
        if (breaker.rejectsCalls()) {
            scheduleNext();
            return;
        }
        running.set(false);
        // The breaker that has opened meanwhile has found the prober running.
        if (breaker.rejectsCalls()) {
            start();
        }
    }

    /** Ends the probes. */
    void close() {
        closed = true;
    }
}
