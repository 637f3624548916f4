// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.interceptor.servlet.RequestProperties;
import jakarta.annotation.Priority;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import java.util.function.Supplier;

/**
 * A filter after those of the application. It considers a user whom a filter without a priority has authenticated, and sets the span
 * attributes of an allowed request that had no span at its decision. SmallRye starts the span in a filter at {@code USER}. A rejected
 * request does not reach this filter.
 */
@Priority(Priorities.USER + 100)
public class SpanFilter implements ContainerRequestFilter {
    private final Supplier<RestContext> context = new RestContext.Late(() -> null);

    @Override
    public void filter(ContainerRequestContext request) {
        RequestState state = RestCall.stateOf(request);
        if (state == null) {
            return;
        }
        if (state.caller() instanceof RestCall call) {
            RestCall later = call.withLaterUser();
            if (later != null) {
                context.get().gate().authenticated(state, later);
            }
        }
        if (request.getProperty(RequestProperties.PENDING_SPAN) instanceof Telemetry.Spans spans
                && spans.hasCurrentSpan()) {
            state.quotas().lastEvent().ifPresent(spans::onDecision);
        }
    }
}
