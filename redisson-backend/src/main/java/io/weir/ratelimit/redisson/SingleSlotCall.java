// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.spi.BackendException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A call that consists of one request, from whose completion it makes the result. */
record SingleSlotCall<T>(AcquireRequest request, Batcher batcher, Function<AcquireRequest, T> toResult)
        implements PendingCall<T> {

    @Override
    public CompletableFuture<AcquireResult> completion() {
        return request;
    }

    @Override
    public T result() {
        return toResult.apply(request);
    }

    @Override
    public long deadlineNanos() {
        return request.deadlineNanos;
    }

    @Override
    public void cancel(BackendException reason) {
        if (request.completeExceptionally(reason)) {
            batcher.cancel(request);
        }
    }
}
