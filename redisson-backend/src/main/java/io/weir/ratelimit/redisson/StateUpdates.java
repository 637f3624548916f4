// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/**
 * The updates of state on Redis that are not decisions: refunds, settlements and resets. They make entries of the cache invalid. None is
 * sent while the breaker is open.
 */
record StateUpdates(
        RefundSender refunds,
        ScriptSender scripts,
        RedisKeys keys,
        RejectionCache cache,
        Breaker breaker,
        BlockingAwait await) {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** Refunds a receipt that no caller awaits. Permits that cannot be refunded stay spent until their window has passed. */
    void refundUnawaited(BackendReceipt receipt) {
        if (breaker.rejectsCalls()) {
            refunds.releaseUnclaimed(receipt);
            return;
        }
        CompletionStage<Void> refunded = refunds.sendBounded(receipt);
        refunded.whenComplete((done, failure) -> {
            if (failure != null) {
                refunds.releaseUnclaimed(receipt);
                LOG.log(Level.DEBUG, "A refund failed: {0}", failure.toString());
            }
        });
    }

    /** Refunds permits of a lease, without waiting. */
    CompletableFuture<Void> refundForLease(Refund refund) {
        return breaker.rejectsCalls()
                ? CompletableFuture.failedFuture(breaker.openException())
                : refunds.sendBounded(refund);
    }

    /** Refunds a receipt, without waiting. */
    CompletableFuture<Void> refund(BackendReceipt receipt) {
        requireClosed(receipt.charges());
        return refunds.sendBounded(receipt);
    }

    /** Settles charges of a receipt, without waiting. */
    CompletableFuture<List<Charge>> settle(BackendReceipt receipt, Predicate<Charge> selection, long actualCost) {
        requireClosed(receipt.charges());
        return refunds.settle(receipt, selection, actualCost);
    }

    /** Refunds a cost once another refund has completed, without waiting. */
    CompletableFuture<Void> refund(Charge charge, CompletableFuture<Void> before) {
        requireClosed(List.of(charge));
        if (charge.policy().withoutConcurrency().isEmpty()) {
            return CompletableFuture.completedFuture(null); // it is unknown which call has the slot
        }
        long deadlineNanos = await.deadlineFromNow();
        // A caller that has timed out may try again, so nothing is refunded after its deadline.
        return refunds.bounded(() -> before.handle((done, failure) -> Refund.byCost(charge))
                .thenCompose(refund -> deadlineNanos - System.nanoTime() <= 0
                        ? CompletableFuture.failedFuture(BlockingAwait.timedOut(await.deadline()))
                        : refunds.send(refund, deadlineNanos)));
    }

    /** Removes the states of charges. Waits until the deadline at most. */
    void reset(List<Charge> charges) {
        requireClosed(charges);
        await.await(refunds.send(Refund.reset(charges)), await.deadlineFromNow());
    }

    /** Checks that the breaker is closed. An update that is not sent ends the known rejections of its keys all the same. */
    void requireClosed(List<Charge> charges) {
        if (breaker.isOpen()) {
            cache.invalidate(keys.of(charges));
        }
        breaker.requireClosed();
    }
}
