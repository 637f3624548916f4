// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.engine.CallEnds;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import org.jspecify.annotations.Nullable;

/**
 * The answer of the gate to a call at one entry point.
 *
 * @param passage whether policies were decided
 * @param decision the decision; {@link Decision.Allowed#UNLIMITED} if nothing was decided
 * @param binding the policies that were decided; {@link Binding#NONE} if nothing was decided
 * @param request the state of the request, null if the call belongs to no request or nothing was decided
 * @param settlesOnReturn whether the entry point must leave with the outcome of the call, because the charges depend on the outcome or the
 *     call has slots
 * @param slots the slots that the call has until it returns
 */
public record Entry(
        Passage passage,
        Decision decision,
        Binding binding,
        @Nullable RequestState request,
        boolean settlesOnReturn,
        CallEnds.Slots slots) {
    /** How a call passes the gate. */
    public enum Passage {
        /** Policies were decided. */
        DECIDED,
        /** Nothing was decided. */
        OPEN,
        /** Nothing was decided yet. The method of the request waits for its permits before it runs. */
        WAITING
    }

    /** A call for which nothing was decided. */
    public static final Entry OPEN = undecided(Passage.OPEN);

    /** A request whose method waits for its permits before it runs. */
    public static final Entry WAITING = undecided(Passage.WAITING);

    private static Entry undecided(Passage passage) {
        return new Entry(passage, Decision.Allowed.UNLIMITED, Binding.NONE, null, false, CallEnds.Slots.NONE);
    }

    /** Tests whether the method of the request waits for its permits before it runs: the interceptor continues with its decision. */
    public boolean isWaiting() {
        return passage == Passage.WAITING;
    }

    /** Tests whether this entry point has decided policies. */
    public boolean isDecided() {
        return passage == Passage.DECIDED;
    }
}
