// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

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
public final class AcquireRequest extends CompletableFuture<AcquireResult> {
    /** The operation of the script on the charges if all their limits have room. */
    public enum Operation {
        /** Spends nothing. */
        PEEK,
        /** Spends the charges. */
        SPEND,
        /** Spends the charges of a probe, which is sent while the breaker is open. */
        PROBE
    }

    public final List<Charge> charges;

    /** One key per charge, in their order. */
    public final List<String> keys;

    public final Operation operation;

    /** Receives a result that arrives after the deadline. */
    private final Consumer<AcquireResult> late;

    /** The version in {@code RejectionCache} of the keys before the request is sent. */
    public final long cacheVersion;

    /** The latest instant at which the request may be sent, as {@link System#nanoTime}. */
    public final long deadlineNanos;

    /** The queue of the request's slot, once it is enqueued. */
    @Nullable
    public BatchQueue queue;

    /** The batch that contains the request. Guarded by the lock of the queue. */
    @Nullable
    public Batch batch;

    /** Whether the request waits in the queue no longer. Guarded by the lock of the queue. */
    boolean dequeued;

    public AcquireRequest(
            List<Charge> charges,
            List<String> keys,
            Operation operation,
            long cacheVersion,
            long deadlineNanos,
            Consumer<AcquireResult> late) {
        this.charges = charges;
        this.keys = keys;
        this.operation = operation;
        this.cacheVersion = cacheVersion;
        this.deadlineNanos = deadlineNanos;
        this.late = late;
    }

    /** Completes the request. */
    @Override
    public boolean complete(AcquireResult result) {
        boolean inTime = super.complete(result);
        if (!inTime) {
            late.accept(result);
        }
        return inTime;
    }

    /** Returns whether one part of a script call can stand for both requests, with a count. */
    boolean canGroupWith(AcquireRequest other) {
        return operation == Operation.SPEND && other.operation == Operation.SPEND && charges.equals(other.charges);
    }
}
