// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.runtime.Entry;
import jakarta.annotation.Priority;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.Configuration;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.ext.Providers;
import org.jspecify.annotations.Nullable;

/**
 * The entry point of all requests to the application's resources, also of those that end with 401 or 404, for policies with {@code
 * phase=early}. The resource method and the user are not known yet. {@link MatchedEarlyFilter} compares again what a later filter changes.
 */
@PreMatching
@Priority(100)
public class EarlyFilter implements ContainerRequestFilter {
    private final RestContext context = new RestContext(() -> this.providers);
    private final ApplicationMappers mappers = new ApplicationMappers(() -> this.providers, () -> this.configuration);

    @Context
    private @Nullable Providers providers;

    @Context
    private @Nullable Configuration configuration;

    @Override
    public void filter(ContainerRequestContext request) {
        Entry entry = context.gate().enterEarly(RestCall.early(request, context.servlet()));
        context.answer(entry, request, mappers);
    }
}
