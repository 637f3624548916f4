// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.response.QuotaView;
import io.weir.ratelimit.interceptor.servlet.RequestProperties;
import io.weir.ratelimit.interceptor.servlet.ServletAccess;
import io.weir.ratelimit.runtime.RateLimitGate;
import jakarta.annotation.Priority;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.ext.Providers;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A response filter that leaves the gate with the outcome of a request, and adds the quotas of its decisions to the response.
 *
 * <p>Response filters run in descending order of priority, so this filter sees the response after the filters of the application.
 */
@Priority(QuotaFilter.LAST)
public class QuotaFilter implements ContainerResponseFilter {
    static final int LAST = 100;

    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVICE_UNAVAILABLE = 503;

    private final Supplier<RestContext> context = new RestContext.Late(() -> this.providers);

    @Context
    private @Nullable Providers providers;

    @Override
    public void filter(ContainerRequestContext request, ContainerResponseContext response) {
        RequestState state = RestCall.stateOf(request);
        if (state == null) {
            return;
        }
        int status = response.getStatus();
        context.get().gate().leave(state, status < 400);
        ServletAccess servlet = context.get().servlet();
        if (state.holdsSlots()) {
            boolean reported = request.getProperty(RequestProperties.END) != null;
            ResponseEnd.await(response, state, reported || (servlet != null && servlet.reportsEnd(state)));
        }
        if (servlet == null || !servlet.isCommitted()) {
            show(state, status, response.getHeaders());
        }
    }

    /**
     * Leaves the gate with the outcome of a request whose response passes no filter, because the runtime streams it. Its header fields are
     * not sent yet.
     */
    protected final void leave(ContainerRequestContext request, int status, MultivaluedMap<String, Object> headers) {
        RequestState state = RestCall.stateOf(request);
        if (state != null) {
            context.get().gate().leave(state, status < 400);
            show(state, status, headers);
        }
    }

    private void show(RequestState state, int status, MultivaluedMap<String, Object> headers) {
        QuotaFields fields = context.get().fields();
        state.quotas().last().ifPresent(last -> {
            if (isRejection(last, status)) {
                RejectionResponses.complete(last, headers);
            }
            if (isDisclosed(last, state, status)) {
                fields.write(view(last, state, status), headers);
            }
        });
        fields.expose(headers);
    }

    /** Returns whether a response reports the rejection, also if the application has written it. */
    private static boolean isRejection(Decision last, int status) {
        return !last.allowed()
                && status == (last instanceof Decision.Rejected ? TOO_MANY_REQUESTS : SERVICE_UNAVAILABLE);
    }

    /** Returns whether the response shows quotas. A degraded decision has none, even after another decision of the request. */
    private static boolean isDisclosed(Decision last, RequestState state, int status) {
        return !state.quotas().areHidden()
                && !state.quotas().all().isEmpty()
                && status != SERVICE_UNAVAILABLE
                && !(last instanceof Decision.Degraded);
    }

    /** Returns the quotas to show. If the application catches a rejection and succeeds, they are those of an allowed request. */
    private QuotaView view(Decision last, RequestState state, int status) {
        RateLimitGate gate = context.get().gate();
        long atMicros = QuotaView.epochMicros(gate.nanosSince(state.quotas().atNanos()), gate.now());
        return last instanceof Decision.Rejected rejected && status >= 400
                ? QuotaView.rejected(rejected, atMicros)
                : QuotaView.allowed(state.quotas().all(), atMicros);
    }
}
