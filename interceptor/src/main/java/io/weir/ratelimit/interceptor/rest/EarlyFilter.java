// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.interceptor.cdi.RateLimitRuntime;
import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.RequestRecord;
import jakarta.annotation.Priority;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.Configuration;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.ext.Providers;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides under the policies of {@code phase=early}: of every request that reaches the application's resources, also one that ends
 * as 401 or 404. Neither the method nor the user is known yet.
 */
@PreMatching
@Priority(100)
public class EarlyFilter implements ContainerRequestFilter {
    private final LazyDeployed deployed = new LazyDeployed();
    private final OwnMappers mappers = new OwnMappers(() -> this.providers, () -> this.configuration);

    @Context
    private @Nullable Providers providers;

    @Context
    private @Nullable Configuration configuration;

    @Context
    private @Nullable HttpServletRequest servletRequest;

    @Override
    public void filter(ContainerRequestContext request) {
        Deployed deployment = deployed.get();
        RateLimitRuntime runtime = deployment.runtime();
        HttpServletRequest servlet = servletRequest;
        Binding binding = runtime.early(request.getMethod(), () -> RateLimitFilter.path(request, servlet));
        if (binding.policies().isEmpty() || Cors.isPreflight(request)) {
            return;
        }
        RequestRecord record = runtime.start(new RestCall(
                request,
                Optional.ofNullable(servlet).map(HttpServletRequest::getRemoteAddr),
                Optional.empty(),
                Optional.empty()));
        request.setProperty(RateLimitFilter.RECORD, record);
        if (!runtime.bypasses(record, binding)) {
            RateLimitFilter.decide(request, deployment, binding, record, mappers);
        }
    }
}
