// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import jakarta.servlet.ServletRegistration;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/** The servlets of Jakarta REST that have served a request without the filters of this library. Each of them is logged once. */
public final class UnlimitedServlets {
    private static final int REDIRECTION = 300;

    private final Set<String> known = ConcurrentHashMap.newKeySet();
    private final String feature;
    private final BooleanSupplier hasPolicies;

    /** Creates the check for the class that a runtime has to register. */
    public UnlimitedServlets(String feature, BooleanSupplier hasPolicies) {
        this.feature = feature;
        this.hasPolicies = hasPolicies;
    }

    /**
     * Checks a request that no filter of this library has seen. A runtime can reject a malformed request before all filters, and a filter
     * of the application can redirect a request, answer a preflight request, or dispatch a request later.
     */
    public void check(ServletRequest anyRequest, ServletResponse anyResponse) {
        if (!(anyRequest instanceof HttpServletRequest request)
                || !(anyResponse instanceof HttpServletResponse response)
                || response.getStatus() >= REDIRECTION
                || request.isAsyncStarted()
                || request.getMethod().equals("OPTIONS")) {
            return;
        }
        String servlet = request.getHttpServletMapping().getServletName();
        if (servlet == null || !known.add(servlet)) {
            return;
        }
        ServletRegistration registration = request.getServletContext().getServletRegistration(servlet);
        if (registration != null && ServletMappings.isRuntime(registration) && hasPolicies.getAsBoolean()) {
            MESSAGES.log("WEIR-024.served", servlet, feature);
        }
    }
}
