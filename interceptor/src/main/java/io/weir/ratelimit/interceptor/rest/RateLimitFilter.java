// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.runtime.LaterEntry;
import jakarta.annotation.Priority;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.Context;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The entry point of requests that are matched to a resource method.
 *
 * <p>The filter runs after authentication and authorization on every server. Open Liberty authenticates resources with {@code
 * @RolesAllowed} in a filter at {@code AUTHORIZATION + 1}. An earlier filter would see no user and would limit by address. Requests
 * that the server answers with 401 or 403 do not reach this filter and are not charged.
 */
@Priority(Priorities.AUTHORIZATION + 100)
public class RateLimitFilter extends GateFilter {
    @Context
    private @Nullable ResourceInfo resource;

    @Override
    Entry enter(ContainerRequestContext request) {
        ResourceInfo matched = matched();
        return matched == null
                ? Entry.OPEN
                : context()
                        .gate()
                        .enter(call(request, matched), matched.getResourceClass(), matched.getResourceMethod());
    }

    @Override
    protected LaterEntry enterAsync(ContainerRequestContext request, Executor threads) {
        ResourceInfo matched = matched();
        return matched == null
                ? LaterEntry.OPEN
                : context()
                        .gate()
                        .enterAsync(
                                call(request, matched),
                                matched.getResourceClass(),
                                matched.getResourceMethod(),
                                threads);
    }

    /** Lets a sub-resource locator know the caller, on a runtime that calls locators before this filter. */
    protected final void locate(ContainerRequestContext request) {
        RequestState unused =
                context().gate().start(RestCall.located(request, context().servlet()));
    }

    private @Nullable ResourceInfo matched() {
        ResourceInfo matched = resource;
        return matched == null || matched.getResourceMethod() == null ? null : matched;
    }

    private RestCall call(ContainerRequestContext request, ResourceInfo matched) {
        return RestCall.matched(request, context().servlet(), matched, context().names());
    }
}
