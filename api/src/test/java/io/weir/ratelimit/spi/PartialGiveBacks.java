// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * A backend that gives back each charge of a receipt by itself, without waiting, and then the rest, which is nothing.
 *
 * @param backend does all the work
 */
record PartialGiveBacks(RateLimitBackend backend) implements RateLimitBackend {
    @Override
    public String name() {
        return backend.name();
    }

    @Override
    public boolean configured() {
        return backend.configured();
    }

    @Override
    public Decision acquire(List<Charge> charges) {
        return backend.acquire(charges);
    }

    @Override
    public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        return backend.acquireAsync(charges);
    }

    @Override
    public List<Quota> peek(Charge charge) {
        return backend.peek(charge);
    }

    @Override
    public void giveBack(Receipt receipt) {
        if (receipt instanceof BackendReceipt whole) {
            for (Charge charge : whole.charges()) {
                giveBackNow(whole.part(charge::equals));
            }
        }
        giveBackNow(receipt);
    }

    private void giveBackNow(Receipt receipt) {
        backend.giveBackAsync(receipt).toCompletableFuture().join();
    }

    @Override
    public void giveBack(Charge charge) {
        backend.giveBack(charge);
    }

    @Override
    public void reset(PolicyLimits policy, String identity) {
        backend.reset(policy, identity);
    }
}
