// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import org.jspecify.annotations.Nullable;

/**
 * The answer of the gate to a call at one entry point.
 *
 * @param decision the decision; {@link Decision.Allowed#UNLIMITED} if nothing was decided
 * @param binding the policies that were decided; {@link Binding#NONE} if nothing was decided
 * @param request the state of the request, null if the call belongs to no request or nothing was decided
 * @param settlesOnReturn whether the entry point must leave with the outcome of the call, because the charges depend on the outcome or the
 *     call has slots
 * @param slots the slots that the call has until it returns
 */
public record Entry(
        Decision decision, Binding binding, @Nullable RequestState request, boolean settlesOnReturn, Slots slots) {
    /** The slots that a call has until it returns. */
    public enum Slots {
        /** The call has none, or the request alone holds them. */
        NONE,
        /** Only the call has them, because it belongs to no request, or its request has ended. */
        OF_CALL,
        /** The request holds them, and the call shares them. */
        OF_REQUEST
    }

    /** A call for which nothing was decided. */
    static final Entry OPEN = new Entry(Decision.Allowed.UNLIMITED, Binding.NONE, null, false, Slots.NONE);

    /** A request whose method waits for its permits before it runs. */
    static final Entry WAITING = new Entry(Decision.Allowed.UNLIMITED, Binding.NONE, null, false, Slots.NONE);

    /**
     * Returns whether the method of the request waits for its permits before it runs.
     *
     * @return true if the request passes, and the interceptor continues with its decision
     */
    @SuppressWarnings("ReferenceEquality") // a constant
    public boolean isWaiting() {
        return this == WAITING;
    }

    /**
     * Returns whether this entry point has decided policies.
     *
     * @return false if the call passed without a decision
     */
    public boolean isDecided() {
        return !binding.policies().isEmpty();
    }
}
