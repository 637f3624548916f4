// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.request.TimedDecision;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What one call pays of the charges of its request. The ledger of the request keeps the charges for this call while the backend decides
 * about them, so that no other call of the request pays them too.
 */
final class RequestPayment {
    private final RequestState request;
    private final Binding binding;

    /** The charges of the call, paid or not. */
    private List<Charge> all = List.of();

    private boolean reserved;
    private boolean paid;

    RequestPayment(RequestState request, Binding binding) {
        this.request = request;
        this.binding = binding;
    }

    /** Returns why the backend has just failed to decide about the request, null if it has not. */
    @Nullable
    BackendException recentFailure(Sleeper clock) {
        return request.recentFailure(clock);
    }

    void failed(BackendException failure, long nanos) {
        request.failed(failure, nanos);
    }

    /** Returns the charges that claim the receipt of the edge; empty if there is nothing to claim. */
    List<Charge> claim(List<Charge> needed, Sleeper clock) {
        return request.recentFailure(clock) == null ? request.claim(needed) : List.of();
    }

    void claimed(TimedDecision claimed) {
        request.claimed(claimed);
    }

    boolean needsSlot(Charge charge) {
        return request.ledger().needsSlot(charge);
    }

    /** Reserves charges. Returns those that the request has not paid, null while another call of the request decides about some. */
    @Nullable
    List<Charge> reserve(List<Charge> charges) {
        all = charges;
        return reserved(request.ledger().reserve(binding.endpoint(), all));
    }

    /** Reserves the charges as soon as the other call of the request has ended. Returns null if it has not ended in time. */
    @Nullable
    List<Charge> reserveWithin(long deadlineNanos) {
        return reserved(request.ledger().reserve(binding.endpoint(), all, deadlineNanos));
    }

    private @Nullable List<Charge> reserved(@Nullable List<Charge> due) {
        if (due != null) {
            reserved = true;
            if (due.isEmpty()) {
                pay(due);
                request.decided(binding);
            }
        }
        return due;
    }

    /** Returns a future that completes when to {@link #reserve} again, null if at once. */
    @Nullable
    CompletableFuture<Void> otherCall() {
        return request.ledger().change(binding.endpoint(), all);
    }

    void pay(List<Charge> due) {
        request.ledger().pay(binding.endpoint(), all, due);
        reserved = false;
        paid = true;
    }

    /** Reserves charges again that were paid, because their permits are refunded. */
    void reopen(List<Charge> due) {
        request.ledger().reopen(binding.endpoint(), all, due);
        reserved = true;
        paid = false;
    }

    void release() {
        if (reserved) {
            request.ledger().release(binding.endpoint(), all);
            reserved = false;
        }
    }

    /** Records the decision about the call. */
    void decided(TimedDecision timed) {
        release();
        request.decided(binding, timed);
    }

    /** Ends a call that does not proceed: a later call of the request pays the charges again. */
    void refund(List<Charge> due) {
        if (paid) {
            request.ledger().refund(binding.endpoint(), all, due);
            paid = false;
        }
    }
}
