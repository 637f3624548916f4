// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.spi.CallContext;
import jakarta.enterprise.context.ContextNotActiveException;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Optional;

/** Who makes the HTTP request at hand, for beans that are called from elsewhere than a Jakarta REST resource. */
final class ServletRequests {
    private final Instance<HttpServletRequest> request;

    ServletRequests(BeanManager beans) {
        this.request = beans.createInstance().select(HttpServletRequest.class);
    }

    /** The caller; empty where a request scope is active without an HTTP request. */
    Optional<CallContext> caller() {
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
