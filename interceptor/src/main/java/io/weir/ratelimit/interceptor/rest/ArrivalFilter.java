// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

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
    /** The property with the path of the base URI. Servlet filters see it as an attribute. */
    static final String BASE = ArrivalFilter.class.getName();

    @Override
    public void filter(ContainerRequestContext request) {
        request.setProperty(BASE, request.getUriInfo().getBaseUri().getRawPath());
    }
}
