// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request to {@code acquire.lua} about charges whose keys are all in one slot. Completes with the result or a
 * {@link BackendException}.
 */
final class AcquireRequest extends CompletableFuture<AcquireResult> {
    /** The operation of the script on the charges if all their limits have room. */
    enum Operation {
        /** Spends nothing. */
        PEEK,
        /** Spends the charges. */
        SPEND,
        /** Spends the charges of a probe, which is sent while the breaker is open. */
        PROBE
    }

    final List<Charge> charges;

    /** One key per charge, in their order. */
    final List<String> keys;

    final Operation operation;

    /** The cache for a late rejection, null if there is none. */
    private final @Nullable RejectionCache cache;

    /** The {@link RejectionCache#version} of the keys before the request is sent. */
    final long cacheVersion;

    /** The latest instant at which the request may be sent, as {@link System#nanoTime}. */
    final long deadlineNanos;

    /** Receives a result with slots that arrives after the deadline; null if the charges have no slots. */
    @Nullable
    Consumer<AcquireResult> late;

    /** The queue of the request's slot, once it is enqueued. */
    @Nullable
    BatchQueue queue;

    /** The batch that contains the request. Guarded by the lock of the queue. */
    @Nullable
    Batch batch;

    /** Whether the request waits in the queue no longer. Guarded by the lock of the queue. */
    boolean dequeued;

    AcquireRequest(
            List<Charge> charges,
            List<String> keys,
            Operation operation,
            @Nullable RejectionCache cache,
            long deadlineNanos) {
        this.charges = charges;
        this.keys = keys;
        this.operation = operation;
        this.cache = cache;
        this.cacheVersion = cache == null ? 0 : cache.version(keys);
        this.deadlineNanos = deadlineNanos;
    }

    /**
     * Completes the request. A rejection that arrives after the deadline is cached, since it holds for later calls. Slots that are taken
     * after the deadline are released.
     */
    @Override
    public boolean complete(AcquireResult result) {
        boolean inTime = super.complete(result);
        if (!inTime && cache != null && !result.hasRoom()) {
            cache.put(this, result);
        }
        if (!inTime && late != null && result.spent()) {
            late.accept(result);
        }
        return inTime;
    }

    /** Returns whether one part of a script call can stand for both requests, with a count. */
    boolean canGroupWith(AcquireRequest other) {
        return operation == Operation.SPEND && other.operation == Operation.SPEND && charges.equals(other.charges);
    }
}
