// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.http;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import jakarta.ws.rs.ext.Provider;

/** A CORS filter without a priority, as in many applications. */
@Provider
public class CorsFilter implements ContainerResponseFilter {
    @Override
    public void filter(ContainerRequestContext request, ContainerResponseContext response) {
        String origin = request.getHeaderString("Origin");
        if (origin != null) {
            response.getHeaders().putSingle("Access-Control-Allow-Origin", origin);
            response.getHeaders()
                    .putSingle("Access-Control-Expose-Headers", origin.contains("star") ? "*" : "X-Own, retry-after");
        }
    }
}
