// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.mapper;

import io.weir.ratelimit.RateLimitUnavailableException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;

@Provider
public class UnavailableMapper implements ExceptionMapper<RateLimitUnavailableException> {
    @Override
    public Response toResponse(RateLimitUnavailableException exception) {
        return Response.status(503)
                .type("text/plain")
                .entity("mapped " + exception.reason())
                .build();
    }
}
