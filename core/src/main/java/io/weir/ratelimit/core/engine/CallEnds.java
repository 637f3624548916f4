// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.slots.HeldSlots;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The ends of calls: settlements by their outcomes, and releases of their slots. {@link Settlements} replaces reserved costs by actual
 * ones.
 */
public final class CallEnds {
    private final FallbackBackend backend;
    private final HeldSlots slots;

    CallEnds(FallbackBackend backend, HeldSlots slots) {
        this.backend = backend;
        this.slots = slots;
    }

    /**
     * Refunds the charges of a call whose policies do not count its outcome, without waiting for the backend. The request, if there is one,
     * pays the refunded charges again.
     */
    public void settle(Binding binding, Decision decision, boolean succeeded, @Nullable RequestState request) {
        List<Charge> refunded = backend.settle(binding, decision, succeeded);
        if (takesSlots(refunded)) {
            slots.release(decision.receipt());
        }
        if (request != null) {
            request.ledger().refund(binding.endpoint(), binding.charges(refunded), refunded);
        }
    }

    private static boolean takesSlots(List<Charge> charges) {
        for (Charge charge : charges) {
            if (charge.policy().hasConcurrency()) {
                return true;
            }
        }
        return false;
    }

    /** Settles all decisions that wait for the outcome of a request. */
    public void settle(RequestState request, boolean succeeded) {
        for (RequestState.Settlement due : request.takeUnsettled()) {
            backend.settle(due.binding(), due.decision(), succeeded);
        }
    }

    /** Refunds the charges of a call that does not proceed, and releases its slots, without waiting for the backend. */
    public void abandon(Decision decision) {
        slots.refunded(decision.receipt());
        if (decision instanceof Decision.Allowed allowed) {
            backend.refundAsync(allowed.receipt());
        }
    }

    /** Refunds the charges of a receipt, and releases its slots. Waits for the backend. */
    void refund(Receipt receipt) {
        slots.refunded(receipt);
        if (Settlements.hasCharges(receipt)) {
            backend.callAndAwait(known -> known.refund(receipt));
        }
    }

    /**
     * Releases the slots of a call that has ended, in the background. Returns at once. A second release has no effect.
     */
    public void release(Receipt receipt) {
        slots.release(receipt);
    }

    /**
     * Releases the slots of a call that held them itself, in the background. A later call of its request, if it has one, takes slots of its
     * own.
     */
    public void release(Receipt receipt, @Nullable RequestState request) {
        slots.release(receipt);
        if (request != null) {
            request.ledger().releaseSlots(HeldSlots.charges(receipt));
        }
    }

    /**
     * Releases all slots of a request that has ended, in the background. Returns at once. A later call of the
     * request takes slots of its own.
     */
    public void release(RequestState request) {
        for (Receipt receipt : request.quotas().takeSlots()) {
            release(receipt, request);
        }
    }

    /** Ends a request that holds slots: settles its charges, and releases its slots in the background. */
    public void end(RequestState request) {
        settle(request, request.hasSucceeded());
        release(request);
    }
}
