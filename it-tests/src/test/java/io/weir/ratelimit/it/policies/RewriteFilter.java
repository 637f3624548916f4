// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.UriBuilder;
import jakarta.ws.rs.ext.Provider;
import java.net.URI;

/** Changes requests as their header fields require, like the filters that applications have behind proxies and for old clients. */
@Provider
@PreMatching
public class RewriteFilter implements ContainerRequestFilter {
    @Override
    public void filter(ContainerRequestContext request) {
        String method = request.getHeaderString("X-HTTP-Method-Override");
        if (method != null) {
            request.setMethod(method);
        }
        URI base = request.getUriInfo().getBaseUri();
        String path = request.getHeaderString("X-Original-URL");
        if (path != null) {
            request.setRequestUri(UriBuilder.fromUri(base).path(path).build());
        }
        String prefix = request.getHeaderString("X-Forwarded-Prefix");
        if (prefix != null) {
            String requested = request.getUriInfo().getRequestUri().getPath();
            String rest = requested.substring(base.getPath().length());
            URI prefixed =
                    UriBuilder.fromUri(base).replacePath(prefix + "/api/").build();
            request.setRequestUri(
                    prefixed, UriBuilder.fromUri(prefixed).path(rest).build());
        }
    }
}
