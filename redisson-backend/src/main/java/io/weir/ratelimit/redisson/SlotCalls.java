// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.lease.Timer;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.SlotCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Releases and renews the slots of receipts, without waiting. While the breaker is open, a release or a renewal fails at once. Slots of
 * calls that no longer await them are unclaimed.
 */
record SlotCalls(SlotSender slots, UnclaimedSlots unclaimed, Breaker breaker) {
    static SlotCalls of(ScriptSender scripts, RedisKeys keys, Duration deadline, Breaker breaker, Timer timer) {
        SlotSender slots = new SlotSender(scripts, keys, deadline);
        return new SlotCalls(slots, new UnclaimedSlots(slots, breaker, timer), breaker);
    }

    /** Releases the slots that Redis may have given to the calls of a batch without a reply. */
    void releaseUnanswered(Batch batch) {
        unclaimed.add(SlotCodec.of(batch));
    }

    /** Releases slots of a call that no longer awaits them. */
    void releaseLate(AcquireResult result) {
        unclaimed.add(slots.slots(result.charges()));
    }

    /** Releases the slots of a receipt that nobody has. */
    void releaseUnclaimed(BackendReceipt receipt) {
        unclaimed.add(slots.slots(receipt.slots()));
    }

    /** Releases the slots of a receipt. Completes with whether it had all of them. */
    CompletableFuture<Boolean> release(BackendReceipt receipt) {
        List<ChargeStates> held = receipt.slots();
        if (held.isEmpty()) {
            return CompletableFuture.completedFuture(true);
        }
        return breaker.rejectsCalls()
                ? CompletableFuture.failedFuture(breaker.openException())
                : slots.release(held).thenApply(had -> {
                    receipt.slotsReleased();
                    return !had.contains(false) || receipt.isClaimed();
                });
    }

    /** Releases the slots of charges that are refunded as well. */
    CompletableFuture<?> release(List<ChargeStates> refunded) {
        return slots.release(refunded);
    }

    /** Renews the slots of receipts. Completes with the receipts that have lost a slot. */
    CompletableFuture<List<Receipt>> renew(List<Receipt> receipts) {
        if (breaker.rejectsCalls()) {
            return CompletableFuture.failedFuture(breaker.openException());
        }
        List<ChargeStates> held = new ArrayList<>();
        List<Receipt> owners = new ArrayList<>();
        for (Receipt receipt : receipts) {
            for (ChargeStates charged :
                    receipt instanceof BackendReceipt known ? known.slots() : List.<ChargeStates>of()) {
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

    /** Ends the releases of unclaimed slots. */
    public void close() {
        unclaimed.close();
    }
}
