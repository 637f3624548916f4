// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.lease;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The request of a lease for its next grant. At most one is in flight, and after some outcomes the next one has to wait. */
final class GrantRequest {
    /** The pause after a request that was not worth sending. */
    private static final long SHORT_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** The pause after a request that brought no permits. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final CompletableFuture<Void> STOPPED = CompletableFuture.completedFuture(null);

    private final LongSupplier nanoTime;

    /** Completes when the request in flight has; null if there is none. */
    private final AtomicReference<@Nullable CompletableFuture<Void>> inFlight = new AtomicReference<>();

    private volatile long startNanos;
    private volatile long notBeforeNanos;

    GrantRequest(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.notBeforeNanos = nanoTime.getAsLong();
    }

    /** Begins a request. Returns what the caller completes after the request has ended; null if there must be no request now. */
    @Nullable
    CompletableFuture<Void> begin(long nowNanos) {
        if (nowNanos - notBeforeNanos < 0 || inFlight.get() != null) {
            return null;
        }
        CompletableFuture<Void> request = new CompletableFuture<>();
        if (!inFlight.compareAndSet(null, request)) {
            return null;
        }
        startNanos = nowNanos;
        return request;
    }

    /** Ends a request that brought permits. */
    void end() {
        inFlight.set(null);
    }

    /** Ends a request that brought no permits. */
    void endWithoutPermits() {
        notBeforeNanos = nanoTime.getAsLong() + PAUSE_NANOS;
        end();
    }

    /** Ends a request that was not worth sending. */
    void endUnsent() {
        notBeforeNanos = nanoTime.getAsLong() + SHORT_PAUSE_NANOS;
        end();
    }

    /** Prevents all further requests; false if one is in flight. */
    boolean stop() {
        return inFlight.compareAndSet(null, STOPPED);
    }

    /** Returns a future that completes when the request in flight has. */
    CompletableFuture<Void> completion() {
        CompletableFuture<Void> request = inFlight.get();
        return request == null ? STOPPED : request;
    }

    /**
     * Returns for how long the running request may be awaited, up to a time after its start; 0 or less if there is none, or it takes long
     * already.
     */
    long awaitNanos(long maxNanos) {
        return inFlight.get() == null ? 0 : startNanos + maxNanos - nanoTime.getAsLong();
    }
}
