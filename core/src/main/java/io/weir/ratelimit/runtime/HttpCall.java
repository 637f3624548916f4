// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.spi.CallContext;
import org.jspecify.annotations.Nullable;

/** An HTTP request at a filter: the caller, and the parts of the request that path rules match. */
public interface HttpCall extends CallContext {
    /** Returns the HTTP method, such as {@code GET}. */
    String httpMethod();

    /** Returns the path below the context root. */
    String path();

    /** Tests whether the request is a CORS preflight request, to which no limit applies. */
    boolean isPreflight();

    /** Returns the state that an earlier filter has attached to the request, null if there is none. */
    @Nullable
    RequestState attachedState();

    /** Attaches a state to the request, for the filters that follow. */
    void attach(RequestState state);
}
