// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.redisson.script.AcquireResult;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Releases and renews the slots of receipts, without waiting. While the breaker is open, a release or a renewal fails at once.
 */
record SlotCalls(SlotSender slots, Breaker breaker) {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** Releases slots of a call that no longer awaits them. They end by themselves if this fails. */
    void releaseLate(AcquireResult result) {
        CompletionStage<Void> released = slots.release(result.charges());
        released.whenComplete((done, failure) -> {
            if (failure != null) {
                LOG.log(Level.DEBUG, "A release failed: {0}", failure.toString());
            }
        });
    }

    /** Releases the slots of a receipt. */
    CompletableFuture<Void> release(BackendReceipt receipt) {
        List<ChargeStates> held = receipt.slots();
        if (held.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        return breaker.isOpen()
                ? CompletableFuture.failedFuture(breaker.openException())
                : slots.release(held).thenRun(receipt::slotsReleased);
    }

    /** Renews the slots of receipts. Completes with the receipts that have lost a slot. */
    CompletableFuture<List<Receipt>> renew(List<BackendReceipt> receipts) {
        if (breaker.isOpen()) {
            return CompletableFuture.failedFuture(breaker.openException());
        }
        List<ChargeStates> held = new ArrayList<>();
        List<Receipt> owners = new ArrayList<>();
        for (BackendReceipt receipt : receipts) {
            for (ChargeStates charged : receipt.slots()) {
                held.add(charged);
                owners.add(receipt);
            }
        }
        return slots.renew(held).thenApply(had -> {
            Set<Receipt> lost = new LinkedHashSet<>();
            for (int i = 0; i < had.size(); i++) {
                if (!had.get(i)) {
                    lost.add(owners.get(i));
                }
            }
            return List.copyOf(lost);
        });
    }
}
