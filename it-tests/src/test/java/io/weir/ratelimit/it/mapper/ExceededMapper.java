// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.mapper;

import io.weir.ratelimit.RateLimitExceededException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;

@Provider
public class ExceededMapper implements ExceptionMapper<RateLimitExceededException> {
    @Override
    public Response toResponse(RateLimitExceededException exception) {
        return Response.status(429)
                .type("text/plain")
                .entity("mapped " + exception.decision().violatedPolicies())
                .build();
    }
}
