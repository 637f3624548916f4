// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.slots;

import jakarta.annotation.Priority;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.Provider;

/** A filter that rejects a request after it has taken its slot. */
@Provider
@Priority(Priorities.USER)
public class AbortingFilter implements ContainerRequestFilter {
    @Override
    public void filter(ContainerRequestContext request) {
        String how = request.getHeaderString("X-Abort");
        if (how != null && how.equals("throw")) {
            throw new IllegalStateException("on purpose");
        }
        if (how != null) {
            request.abortWith(Response.status(Integer.parseInt(how)).build());
        }
    }
}
