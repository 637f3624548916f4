// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.request.RequestState;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The answer of the gate to a call that need not hold its thread while it waits.
 *
 * @param decision the decision, complete if the call need not wait; to cancel it refunds the permits
 * @param request the state of the request, null if the call belongs to no request
 * @param answer returns the answer of the gate; called once, with the complete decision
 */
public record LaterEntry(
        CompletableFuture<Decision> decision, @Nullable RequestState request, Function<Decision, Entry> answer) {
    /** A call for which nothing was decided. */
    public static final LaterEntry OPEN = decided(Entry.OPEN);

    /** Returns the answer to a call that had to wait on its thread. */
    public static LaterEntry decided(Entry entry) {
        return new LaterEntry(CompletableFuture.completedFuture(entry.decision()), null, decision -> entry);
    }

    public boolean isDecided() {
        return decision.isDone();
    }

    /** Returns the answer of a decided call. */
    public Entry entry() {
        return answer.apply(decision.join());
    }
}
