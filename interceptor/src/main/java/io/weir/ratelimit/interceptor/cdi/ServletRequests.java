// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.spi.CallContext;
import jakarta.enterprise.context.ContextNotActiveException;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Optional;
import java.util.function.Supplier;

/** The callers of servlet requests, for beans that no REST resource calls. The class is loaded only if the Servlet API is visible. */
final class ServletRequests implements Supplier<Optional<CallContext>> {
    private final Instance<HttpServletRequest> request;

    private ServletRequests(BeanManager beans) {
        this.request = beans.createInstance().select(HttpServletRequest.class);
    }

    /** Returns a supplier of the caller of the current servlet request. */
    static Supplier<Optional<CallContext>> of(BeanManager beans) {
        return ServletApi.isVisible() ? new ServletRequests(beans) : Optional::empty;
    }

    /** Returns the caller; empty if a request scope is active without a servlet request. */
    @Override
    public Optional<CallContext> get() {
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
