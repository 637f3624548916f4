// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.spi.BackendException;
import java.util.concurrent.CompletableFuture;

/**
 * A call that acquires permits of a lease. Once it is sent it does not end at its deadline: its result is used whenever it arrives, since
 * permits that were spent must not get lost.
 */
record LeaseCall(AcquireRequest request, Batcher batcher) implements PendingCall<AcquireResult> {
    @Override
    public CompletableFuture<AcquireResult> completion() {
        return request;
    }

    @Override
    public AcquireResult result() {
        return request.join();
    }

    @Override
    public long deadlineNanos() {
        return request.deadlineNanos;
    }

    /** Ends the request if it was not sent. */
    @Override
    public void cancel(BackendException reason) {
        batcher.cancel(request);
    }
}
