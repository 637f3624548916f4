// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.spi.Charge;
import java.util.List;

/** Steps of a decision that consists of several requests. All requests have the deadline of the call. */
interface AcquireSteps {
    /** Returns the current {@link System#nanoTime}. */
    long nanoTime();

    /** Creates a request about charges of one slot, without sending it. */
    AcquireRequest create(List<Charge> charges, Operation operation);

    /** Sends a request, at once or with the next batch. */
    void send(AcquireRequest request);

    /** Cancels a request whose result is not awaited any longer. */
    void cancel(AcquireRequest request);

    /** Updates the rejection cache with a completed request that was spent. */
    void cacheSpent(AcquireRequest request);

    /** Updates the rejection cache with the states of a completed request of a call that is rejected. */
    void cacheRejected(AcquireRequest request);

    /** Starts a decision on enforced charges of any slots. The caller cancels it at the deadline. */
    PendingCall<Decision> decide(List<Charge> enforced);

    /** Refunds a receipt without awaiting the outcome. */
    void refund(BackendReceipt receipt);
}
