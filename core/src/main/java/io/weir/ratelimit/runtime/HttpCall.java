// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.spi.CallContext;
import org.jspecify.annotations.Nullable;

/** An HTTP request at a filter: the caller, and the parts of the request that path rules match. */
public interface HttpCall extends CallContext {
    /**
     * Returns the HTTP method.
     *
     * @return the method, such as {@code GET}
     */
    String httpMethod();

    /**
     * Returns the path below the context root.
     *
     * @return the path
     */
    String path();

    /**
     * Returns whether the request is a CORS preflight request, to which no limit applies.
     *
     * @return true for a preflight request
     */
    boolean isPreflight();

    /**
     * Returns the state that an earlier filter has attached to the request.
     *
     * @return the state, null if there is none
     */
    @Nullable
    RequestState attachedState();

    /**
     * Attaches a state to the request, for the filters that follow.
     *
     * @param state the state
     */
    void attach(RequestState state);
}
