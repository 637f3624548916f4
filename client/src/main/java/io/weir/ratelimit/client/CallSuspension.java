// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client;

import jakarta.ws.rs.client.ClientRequestContext;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * The suspension of calls whose thread must not block, such as an event loop. A host whose REST client can suspend a call has a bean of
 * this type.
 */
@FunctionalInterface
public interface CallSuspension {
    /** The host suspends no call. */
    CallSuspension NEVER = (request, decision) -> false;

    /**
     * Suspends a call until its decision if the calling thread must not block. If the decision fails, the call fails with the cause.
     *
     * @param request the call
     * @param decision decides with the threads that can block; its result returns the permits of a call that its caller has canceled
     *     meanwhile, and that is not sent
     * @return false if the thread can block; the call is then neither decided nor suspended
     */
    boolean suspend(ClientRequestContext request, Function<Executor, CompletionStage<Runnable>> decision);
}
