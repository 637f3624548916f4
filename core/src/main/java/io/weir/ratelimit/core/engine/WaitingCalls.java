// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Decision;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** The calls without a thread that are not decided. */
final class WaitingCalls {
    private final Set<AsyncAcquisition> calls = ConcurrentHashMap.newKeySet();

    /** Keeps a call until it is decided, so that {@link #cancel} can cancel it. */
    CompletableFuture<Decision> keep(AsyncAcquisition call, CompletableFuture<Decision> decision) {
        if (!decision.isDone()) {
            calls.add(call);
            CompletionStage<Decision> ended = decision;
            ended.whenComplete((decided, failure) -> calls.remove(call));
        }
        return decision;
    }

    /** Cancels all calls. */
    void cancel() {
        calls.forEach(AsyncAcquisition::cancel);
    }
}
