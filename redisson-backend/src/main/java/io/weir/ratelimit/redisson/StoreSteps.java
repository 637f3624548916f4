// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.spi.Charge;
import java.util.List;

/** The steps of a decision of the store, whose requests have one deadline. */
record StoreSteps(RedisStore store, RequestFactory requests, long deadlineNanos) implements AcquireSteps {
    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public AcquireRequest create(List<Charge> charges, Operation operation) {
        return requests.create(charges, operation, deadlineNanos);
    }

    @Override
    public void send(AcquireRequest request) {
        store.enqueue(request);
    }

    @Override
    public void cancel(AcquireRequest request) {
        store.cancel(request);
    }

    @Override
    public void cacheSpent(AcquireRequest request) {
        store.cacheSpent(request);
    }

    @Override
    public void cacheRejected(AcquireRequest request) {
        if (!KnownRejections.mayWait(request.charges)) {
            store.cacheRejected(request);
        }
    }

    @Override
    public PendingCall<Decision> decide(List<Charge> enforced) {
        return store.decide(enforced, deadlineNanos);
    }

    @Override
    public void refund(BackendReceipt receipt) {
        store.updates().refundUnawaited(receipt);
    }
}
