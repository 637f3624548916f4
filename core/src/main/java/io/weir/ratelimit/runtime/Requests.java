// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.spi.CallContext;
import org.jspecify.annotations.Nullable;

/** The requests of a host, and the callers that belong to no request. */
public interface Requests {
    /**
     * Returns the state of the current request with a caller. Starts the state if this is the first entry point of the request. The gate is
     * the one to leave if the request ends without a response.
     */
    RequestState start(CallContext caller, RateLimitGate gate);

    /**
     * Returns the state of the request that the calling thread serves, null if there is none. The gate is the one to leave if the request
     * ends without a response.
     */
    @Nullable
    RequestState current(RateLimitGate gate);

    /** Returns the caller of a method on a thread without a request. The arguments are null if the method has no parameters. */
    CallContext withoutRequest(@Nullable Object @Nullable [] arguments);

    /**
     * Lets a request hold slots until it ends, when the releaser releases all. Returns false if the request has ended or its end is not
     * known, so that the caller has to release the slots.
     */
    boolean hold(RequestState request, Runnable releaser);
}
