// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

import io.weir.ratelimit.core.request.RequestState;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import java.io.IOException;

/**
 * A servlet filter that ends requests which hold slots: with the response, an asynchronous one when it completes, times out or fails. It
 * surrounds all filters of the application, also those of a dispatch after {@code startAsync} or to an error page. It also detects servlets
 * of Jakarta REST without the filters of this library.
 *
 * <p>No other event of a request ends all of them: Open Liberty does not report the end of a request to listeners if it fails, and not
 * every server ends the CDI request scope of each asynchronous request.
 */
public final class RequestEndFilter implements Filter {
    private final UnlimitedServlets unlimited;

    /** Creates the filter with a check of requests that no filter of Jakarta REST has seen. */
    public RequestEndFilter(UnlimitedServlets unlimited) {
        this.unlimited = unlimited;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        boolean isFirst = request.getDispatcherType() == DispatcherType.REQUEST;
        Object before = request.getAttribute(RequestProperties.STATE);
        try {
            chain.doFilter(request, response);
        } finally {
            // Before a dispatch, the request has ended, or its listener ends it.
            if (request.getAttribute(RequestProperties.STATE) instanceof RequestState state
                    && (isFirst || state != before)
                    && !continues(request, response, state)) {
                state.end();
            }
        }
        if (isFirst && request.getAttribute(RequestProperties.BASE) == null) {
            unlimited.check(request, response);
        }
    }

    /** Returns whether the request continues without this thread, and has or can get slots. */
    static boolean continues(ServletRequest request, ServletResponse response, RequestState state) {
        if (!request.isAsyncStarted() || !(state.holdsSlots() || state.isWaiting())) {
            return false;
        }
        try {
            state.awaitEnd();
            new AsyncRequestEnd(state, request, new ServletResponseWrapper(response))
                    .listenTo(request.getAsyncContext());
            // Another thread can have completed the response before the listener was there.
            return request.isAsyncStarted();
        } catch (IllegalStateException e) { // it has
            return false;
        }
    }

    /**
     * A listener that ends an asynchronous request which holds slots. It has no HTTP response, since GlassFish sets the status of one to 200
     * before each event. A context does not return its response after a dispatch, so the listener keeps the one of the filter.
     */
    private record AsyncRequestEnd(RequestState state, ServletRequest request, ServletResponse response)
            implements AsyncListener {
        void listenTo(AsyncContext context) {
            context.addListener(this, request, response);
        }

        @Override
        public void onComplete(AsyncEvent event) {
            state.end();
        }

        @Override
        public void onTimeout(AsyncEvent event) {
            state.end();
        }

        @Override
        public void onError(AsyncEvent event) {
            state.end();
        }

        /** Stays with a request that continues again after a dispatch, which removes its listeners. */
        @Override
        public void onStartAsync(AsyncEvent event) {
            listenTo(event.getAsyncContext());
        }
    }
}
