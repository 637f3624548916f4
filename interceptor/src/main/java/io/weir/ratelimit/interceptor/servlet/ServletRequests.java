// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

import io.weir.ratelimit.spi.CallContext;
import jakarta.enterprise.context.ContextNotActiveException;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Optional;

/** The servlet requests of beans that no REST resource calls. The class is loaded only if the Servlet API is visible. */
public final class ServletRequests {
    private final Instance<HttpServletRequest> request;

    public ServletRequests(BeanManager beans) {
        this.request = beans.createInstance().select(HttpServletRequest.class);
    }

    /** Returns the caller; empty if a request scope is active without a servlet request. */
    public Optional<CallContext> caller() {
        if (!request.isResolvable()) {
            return Optional.empty();
        }
        try {
            HttpServletRequest http = request.get();
            return Optional.of(new ServletCall(http, Optional.ofNullable(http.getRemoteAddr())));
        } catch (ContextNotActiveException | IllegalStateException e) {
            return Optional.empty();
        }
    }
}
