// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A request to {@code acquire.lua} about charges whose keys are all in one slot. Completes with the result or a
 * {@link BackendException}.
 */
final class AcquireRequest extends CompletableFuture<AcquireResult> {
    /** What the script does with the charges if all their limits have room. */
    enum Operation {
        /** Spends nothing. */
        PEEK,
        /** Spends the charges. */
        SPEND,
        /** Spends the charges if the call that the request is a shadow of is allowed. */
        SPEND_IF_ALLOWED,
        /** Spends the charges of a probe, which is sent while the breaker is open. */
        PROBE
    }

    final List<Charge> charges;

    /** One key per limit, in the order of the charges and their limits. */
    final List<String> keys;

    final Operation operation;

    /** The shadow requests of the same call, which the batch contains right behind this request. */
    final List<AcquireRequest> shadows;

    /** The number of keys, those of the shadow requests included. */
    final int keyCount;

    /** The {@link RejectionCache#version} of the keys before the request is sent. */
    final long cacheVersion;

    /** The latest instant at which the request may be sent, as {@link System#nanoTime}. */
    final long deadlineNanos;

    /** The queue of the request's slot, once it is enqueued. */
    @Nullable
    BatchQueue queue;

    /** The batch that contains the request. Guarded by the lock of the queue. */
    @Nullable
    Batch batch;

    /** Whether the request waits in the queue no longer. Guarded by the lock of the queue. */
    boolean dequeued;

    AcquireRequest(
            List<Charge> charges, List<String> keys, Operation operation, long cacheVersion, long deadlineNanos) {
        this(charges, keys, operation, List.of(), cacheVersion, deadlineNanos);
    }

    private AcquireRequest(
            List<Charge> charges,
            List<String> keys,
            Operation operation,
            List<AcquireRequest> shadows,
            long cacheVersion,
            long deadlineNanos) {
        this.charges = charges;
        this.keys = keys;
        this.operation = operation;
        this.shadows = shadows;
        this.cacheVersion = cacheVersion;
        this.deadlineNanos = deadlineNanos;
        int count = keys.size();
        for (int i = 0; i < shadows.size(); i++) {
            count += shadows.get(i).keys.size();
        }
        this.keyCount = count;
    }

    /** Returns the same request with shadow requests. */
    AcquireRequest withShadows(List<AcquireRequest> others) {
        return new AcquireRequest(charges, keys, operation, List.copyOf(others), cacheVersion, deadlineNanos);
    }

    /** Returns whether one part of a script call can stand for both requests, with a count. */
    boolean canGroupWith(AcquireRequest other) {
        return isGroupable() && other.isGroupable() && charges.equals(other.charges);
    }

    private boolean isGroupable() {
        return operation == Operation.SPEND && shadows.isEmpty();
    }

    /** Completes the request and its shadow requests with a failure; false if the request is completed already. */
    boolean fail(BackendException failure) {
        boolean failed = completeExceptionally(failure);
        for (int i = 0; i < shadows.size(); i++) {
            shadows.get(i).completeExceptionally(failure);
        }
        return failed;
    }
}
