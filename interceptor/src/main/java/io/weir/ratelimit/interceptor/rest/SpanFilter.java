// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.core.engine.RequestState;
import io.weir.ratelimit.interceptor.telemetry.SpanDecorator;
import jakarta.annotation.Priority;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;

/**
 * A filter that sets the span attributes of an allowed request that had no span at its decision. SmallRye starts the span in a filter at
 * {@code USER}. A rejected request has no span there.
 */
@Priority(Priorities.USER + 100)
public class SpanFilter implements ContainerRequestFilter {
    static final String PENDING = SpanFilter.class.getName();

    @Override
    public void filter(ContainerRequestContext request) {
        if (request.getProperty(PENDING) instanceof SpanDecorator spans && spans.hasCurrentSpan()) {
            RequestState state = RestCall.stateOf(request);
            if (state != null) {
                state.quotas().lastEvent().ifPresent(spans::decorate);
            }
        }
    }
}
