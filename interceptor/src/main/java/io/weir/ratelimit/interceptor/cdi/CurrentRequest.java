// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.engine.RequestState;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.RequestScoped;
import org.jspecify.annotations.Nullable;

/** Holds the state of a request for all entry points that the request passes. */
@RequestScoped
public class CurrentRequest {
    private @Nullable RequestState state;
    private @Nullable RateLimitGate gate;

    void start(RequestState started, RateLimitGate entered) {
        state = started;
        gate = entered;
    }

    @Nullable
    RequestState state() {
        return state;
    }

    /** A request without a response by now has failed: the scope of an asynchronous request ends no earlier than the request. */
    @PreDestroy
    void end() {
        if (state != null && gate != null) {
            gate.leave(state, false);
        }
    }
}
