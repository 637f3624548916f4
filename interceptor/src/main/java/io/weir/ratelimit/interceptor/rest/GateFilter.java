// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.interceptor.servlet.RequestProperties;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.runtime.LaterEntry;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.core.Configuration;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.Providers;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A filter by which requests enter the gate. A runtime whose filters run on an event loop lets them enter asynchronously. */
public abstract class GateFilter implements ContainerRequestFilter {
    private final Supplier<RestContext> context = new RestContext.Late(() -> this.providers);
    private final ApplicationMappers mappers = new ApplicationMappers(() -> this.providers, () -> this.configuration);

    @Context
    private @Nullable Providers providers;

    @Context
    private @Nullable Configuration configuration;

    GateFilter() {}

    final RestContext context() {
        return context.get();
    }

    @Override
    public void filter(ContainerRequestContext request) {
        Entry entry;
        try {
            entry = enter(request);
        } catch (CancellationException e) { // the application ends during the wait
            request.abortWith(
                    Response.status(Response.Status.SERVICE_UNAVAILABLE).build());
            return;
        }
        answer(entry, request);
    }

    /** Lets a request enter on the calling thread, which can block. */
    abstract Entry enter(ContainerRequestContext request);

    /**
     * Lets a request enter on a thread that must not block, for {@link #answer}. The executor runs what can block, in the context of the
     * request.
     */
    protected abstract LaterEntry enterAsync(ContainerRequestContext request, Executor threads);

    /** Aborts a rejected request, and requests late span attributes for an allowed one. */
    protected final void answer(Entry entry, ContainerRequestContext request) {
        if (!entry.decision().allowed()) {
            request.abortWith(context().rejections().response(entry, request.getHeaders(), mappers));
        } else if (entry.isWaiting() || (entry.isDecided() && !context().spans().hasCurrentSpan())) {
            request.setProperty(RequestProperties.PENDING_SPAN, context().spans());
        }
    }
}
