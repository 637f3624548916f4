// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.runtime.RateLimitGate;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.RequestScoped;
import org.jspecify.annotations.Nullable;

/** The holder of the state of a request, for all entry points of the request. */
@RequestScoped
public class CurrentRequest {
    private @Nullable RequestState state;
    private @Nullable RateLimitGate gate;

    void start(RequestState started, RateLimitGate entered) {
        state = started;
        gate = entered;
    }

    /** Shares the state of a request whose end another scope reports. */
    void join(RequestState shared) {
        state = shared;
    }

    @Nullable
    RequestState state() {
        return state;
    }

    /**
     * Leaves the gate with a failure if the request has no response. The scope ends no earlier than an asynchronous request, but earlier
     * than a stream can.
     */
    @PreDestroy
    void end() {
        if (state != null && gate != null) {
            gate.leave(state, false);
            if (!state.isEndAwaited()) {
                state.end();
            }
        }
    }
}
