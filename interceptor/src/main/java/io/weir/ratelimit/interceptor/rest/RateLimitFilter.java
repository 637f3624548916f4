// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.runtime.Entry;
import jakarta.annotation.Priority;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.Configuration;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.ext.Providers;
import org.jspecify.annotations.Nullable;

/**
 * The entry point of requests that are matched to a resource method.
 *
 * <p>The filter runs after authentication and authorization on every server. Open Liberty authenticates resources with {@code
 * @RolesAllowed} in a filter at {@code AUTHORIZATION + 1}. An earlier filter would see no user and would limit by address. Requests
 * that the server answers with 401 or 403 do not reach this filter and are not charged.
 */
@Priority(Priorities.AUTHORIZATION + 100)
public class RateLimitFilter implements ContainerRequestFilter {
    private final RestContext context = new RestContext(() -> this.providers);
    private final ApplicationMappers mappers = new ApplicationMappers(() -> this.providers, () -> this.configuration);

    @Context
    private @Nullable Providers providers;

    @Context
    private @Nullable Configuration configuration;

    @Context
    private @Nullable ResourceInfo resource;

    @Override
    public void filter(ContainerRequestContext request) {
        ResourceInfo matched = resource;
        if (matched == null || matched.getResourceMethod() == null) {
            return;
        }
        Entry entry = context.gate()
                .enter(
                        RestCall.matched(request, context.servlet(), matched, context.names()),
                        matched.getResourceClass(),
                        matched.getResourceMethod());
        context.answer(entry, request, mappers);
    }
}
