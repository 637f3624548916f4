// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** The calls without a thread that are not decided, and the waits of threads. */
final class WaitingCalls {
    /** Each one cancels a call. */
    private final Set<Runnable> calls = ConcurrentHashMap.newKeySet();

    private volatile boolean ended;

    /** Keeps a decision until it completes, so that {@link #cancel} can cancel it. */
    <T> CompletableFuture<T> keep(CompletableFuture<T> decision) {
        if (!decision.isDone()) {
            Runnable call = () -> decision.cancel(false);
            calls.add(call);
            CompletionStage<T> completed = decision;
            completed.whenComplete((decided, failure) -> calls.remove(call));
        }
        return decision;
    }

    /** Keeps the end of a wait until it completes. Cancels it at once if the application has ended. */
    <T> CompletableFuture<T> keepWait(CompletableFuture<T> end) {
        CompletableFuture<T> kept = keep(end);
        if (ended) {
            kept.cancel(false);
        }
        return kept;
    }

    /** Cancels all calls, and each wait that begins later. */
    void cancel() {
        ended = true;
        calls.forEach(Runnable::run);
    }
}
