// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.spi.CallContext;
import org.jspecify.annotations.Nullable;

/** The requests of a host, and the callers that belong to no request. */
public interface Requests {
    /**
     * Returns the state of the current request with a caller. Starts the state if this is the first entry point of the request.
     *
     * @param caller the caller
     * @param gate the gate to leave if the request ends without a response
     * @return the state
     */
    RequestState start(CallContext caller, RateLimitGate gate);

    /**
     * Returns the state of the request that the calling thread serves.
     *
     * @param gate the gate to leave if the request ends without a response
     * @return the state, null if there is no request
     */
    @Nullable
    RequestState current(RateLimitGate gate);

    /**
     * Returns the caller of a method on a thread without a request.
     *
     * @param arguments the arguments of the method, null if it has no parameters
     * @return the caller
     */
    CallContext withoutRequest(@Nullable Object @Nullable [] arguments);

    /**
     * Lets a request hold slots until it ends.
     *
     * @param request the state of the request
     * @param releaser releases all slots of the request when it ends
     * @return false if the request has ended or its end is not known, so that the caller has to release the slots
     */
    boolean hold(RequestState request, Runnable releaser);
}
