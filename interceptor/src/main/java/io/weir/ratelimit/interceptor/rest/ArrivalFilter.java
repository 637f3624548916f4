// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.interceptor.servlet.RequestProperties;
import jakarta.annotation.Priority;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;

/**
 * The first filter of each request. It keeps the base URI before a filter of the application can change it, for example as the client
 * requires with {@code X-Forwarded-Prefix}.
 */
@PreMatching
@Priority(Integer.MIN_VALUE)
public class ArrivalFilter implements ContainerRequestFilter {
    @Override
    public void filter(ContainerRequestContext request) {
        request.setProperty(
                RequestProperties.BASE, request.getUriInfo().getBaseUri().getRawPath());
    }
}
