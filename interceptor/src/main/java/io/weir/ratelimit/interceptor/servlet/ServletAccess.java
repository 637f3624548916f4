// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

import io.weir.ratelimit.core.request.RequestState;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.ext.ContextResolver;
import jakarta.ws.rs.ext.Providers;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The servlet request behind a REST request, as the servlet filters of the application have wrapped it. The feature registers this class
 * only if the Servlet API is visible.
 */
public class ServletAccess implements ContextResolver<ServletAccess> {
    @Context
    private @Nullable HttpServletRequest request;

    @Context
    private @Nullable HttpServletResponse response;

    @Override
    public ServletAccess getContext(Class<?> type) {
        return this;
    }

    /** Returns the access that the runtime has created; null if the runtime has none. */
    public static @Nullable ServletAccess find(@Nullable Providers providers) {
        if (providers == null) {
            return null;
        }
        ContextResolver<ServletAccess> resolver =
                providers.getContextResolver(ServletAccess.class, MediaType.WILDCARD_TYPE);
        return resolver == null ? null : resolver.getContext(ServletAccess.class);
    }

    /** Returns the address of the peer of the server; null if there is no servlet request. */
    public @Nullable String peerAddress() {
        return read(request, HttpServletRequest::getRemoteAddr);
    }

    /** Returns the context root; empty if there is no servlet request. */
    public String contextPath() {
        String root = read(request, HttpServletRequest::getContextPath);
        return root == null ? "" : root;
    }

    /** Returns null without a servlet request. The object that RESTEasy injects then fails. */
    private static <S, T> @Nullable T read(@Nullable S injected, Function<S, @Nullable T> part) {
        try {
            return injected == null ? null : part.apply(injected);
        } catch (RuntimeException e) {
            return null;
        }
    }

    /** Returns whether the header fields of the response are already sent. It is false on a thread that serves no request. */
    public boolean isCommitted() {
        return Boolean.TRUE.equals(read(response, HttpServletResponse::isCommitted));
    }

    /** Returns the attached state; empty if none is attached. A property of a REST request is an attribute of the servlet request. */
    public Optional<RequestState> attachedState() {
        return read(request, known -> known.getAttribute(RequestProperties.STATE)) instanceof RequestState state
                ? Optional.of(state)
                : Optional.empty();
    }

    /**
     * Returns whether the end of the request is reported: by the filter, else to a listener of an asynchronous request; false if the caller
     * has to end the request. In an EAR, the container does not find the filter of a library outside the WAR.
     */
    public boolean reportsEnd(RequestState state) {
        return Boolean.TRUE.equals(read(
                request,
                known -> known.getServletContext().getFilterRegistration(RequestEndFilter.class.getName()) != null
                        || (response != null && RequestEndFilter.continues(known, response, state))));
    }
}
