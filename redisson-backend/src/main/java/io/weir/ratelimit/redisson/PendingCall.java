// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import java.util.concurrent.CompletableFuture;

/**
 * A call in progress that ends at its deadline at the latest. {@link BlockingAwait} awaits it on the caller's thread; for an
 * asynchronous caller a {@link TimeoutQueue} watches it.
 */
interface PendingCall<T> {
    /** Returns a future that completes when the result is known, or exceptionally with the failure of the call. */
    CompletableFuture<?> completion();

    /**
     * Returns the result of a call that has completed normally. Work that is left for it runs on the calling thread and not on the
     * thread that receives the replies of all calls.
     */
    T result();

    /** Returns the instant at which the call ends, as {@link System#nanoTime}. */
    long deadlineNanos();

    /**
     * Ends the call, whose caller awaits it no longer. A request that waits is removed from its queue. The call completes with the
     * given failure, unless enough is known to complete it normally.
     */
    void cancel(BackendException reason);
}
