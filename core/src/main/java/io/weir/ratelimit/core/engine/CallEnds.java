// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.slots.HeldSlots;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The ends of calls: settlements by their outcomes, and releases of their slots. The slots of a request belong to the request, and calls
 * of beans share them until they return. {@link Settlements} replaces reserved costs by actual ones.
 */
public final class CallEnds {
    private final FallbackBackend backend;
    private final HeldSlots slots;

    /** The slots that a call has until it returns. */
    public enum Slots {
        /** The call has none, or the request alone holds them. */
        NONE,
        /** Only the call has them, because it belongs to no request, or its request has ended. */
        OF_CALL,
        /** The request holds them, and the call shares them. */
        OF_REQUEST
    }

    /** Creates the ends of calls, with the clock of their slots. */
    CallEnds(FallbackBackend backend, Sleeper clock) {
        this.backend = backend;
        this.slots = new HeldSlots(backend, clock);
    }

    /** Returns the slots that running calls hold. */
    public HeldSlots slots() {
        return slots;
    }

    /** Keeps the slots of a decision, if it has taken some, until its call ends. */
    void decided(Decision decision) {
        slots.took(decision);
    }

    /** Releases the slots of a receipt that is refunded as well, in the background. */
    void refunded(Receipt receipt) {
        slots.refunded(receipt);
    }

    /**
     * Lets the request hold the slots of a decision, else the call.
     *
     * @param binding the policies of the call
     * @param request the request, null if the call belongs to none
     * @param returns whether the call reports its end, in contrast to the request itself
     * @param holder lets a request hold slots, and returns false if the request cannot: its end is not known, or has happened
     * @return the slots to {@link #leave}
     */
    public Slots take(
            Binding binding,
            Decision decision,
            @Nullable RequestState request,
            boolean returns,
            BiPredicate<RequestState, Runnable> holder) {
        if (decision.receipt().holdsSlots()) {
            if (request == null || !holder.test(request, () -> end(request))) {
                return Slots.OF_CALL;
            }
        } else if (request == null || !request.holdsSlots() || !binding.takesSlots()) {
            return Slots.NONE;
        }
        return returns && request.shareSlots() ? Slots.OF_REQUEST : Slots.NONE;
    }

    /** Keeps the slots of a late decision for the request, whether or not its method asks for the decision. */
    public void keepUntilEnd(Decision late, RequestState request, BiPredicate<RequestState, Runnable> holder) {
        if (late.receipt().holdsSlots() && !holder.test(request, () -> end(request))) {
            release(late.receipt(), request);
        }
    }

    /** Ends a call that {@linkplain #take took} slots. */
    public void leave(Slots taken, Decision decision, @Nullable RequestState request) {
        if (taken == Slots.OF_CALL) {
            release(decision.receipt(), request);
        } else if (taken == Slots.OF_REQUEST && request != null) {
            request.endShare();
        }
    }

    /**
     * Refunds the charges of a call whose policies do not count its outcome, without waiting for the backend.
     *
     * @param request the request that the call is part of, null if there is none: it pays the refunded charges again
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
        if (FallbackBackend.hasCharges(receipt)) {
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
    private void release(Receipt receipt, @Nullable RequestState request) {
        slots.release(receipt);
        if (request != null) {
            request.ledger().releaseSlots(HeldSlots.charges(receipt));
        }
    }

    /**
     * Releases all slots of a request that has ended, in the background. Returns at once. A later call of the
     * request takes slots of its own.
     */
    void release(RequestState request) {
        for (Receipt receipt : request.quotas().takeSlots()) {
            release(receipt, request);
        }
    }

    /** Ends a request that holds slots: settles its charges, and releases its slots in the background. */
    private void end(RequestState request) {
        settle(request, request.hasSucceeded());
        release(request);
    }
}
