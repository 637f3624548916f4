// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import org.jspecify.annotations.Nullable;

/** The slots of calls: those of a request belong to the request, and calls of beans share them until they return. */
record CallSlots(RateLimitEngine engine, Requests requests) {
    /**
     * Lets the request, if there is one, hold the slots of a decision, else the call. Returns the slots to {@link #leave}. A call of a bean
     * reports its return; a request does not.
     */
    Entry.Slots take(Binding binding, Decision decision, @Nullable RequestState request, boolean returns) {
        if (decision.receipt().holdsSlots()) {
            if (request == null || !requests.hold(request, () -> engine.ends().end(request))) {
                return Entry.Slots.OF_CALL;
            }
        } else if (request == null || !request.holdsSlots() || !binding.takesSlots()) {
            return Entry.Slots.NONE;
        }
        return returns && request.shareSlots() ? Entry.Slots.OF_REQUEST : Entry.Slots.NONE;
    }

    /** Keeps the slots of a late decision for the request, whether or not its method asks for the decision. */
    void keepUntilEnd(Decision late, RequestState request) {
        if (late.receipt().holdsSlots()
                && !requests.hold(request, () -> engine.ends().end(request))) {
            engine.ends().release(late.receipt(), request);
        }
    }

    void leave(Entry entry) {
        RequestState request = entry.request();
        if (entry.slots() == Entry.Slots.OF_CALL) {
            engine.ends().release(entry.decision().receipt(), request);
        } else if (entry.slots() == Entry.Slots.OF_REQUEST && request != null) {
            request.endShare();
        }
    }
}
