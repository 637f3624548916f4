// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.RateLimitUnavailableException;
import jakarta.annotation.Priority;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import org.jspecify.annotations.Nullable;

/** Gives a refusal without the store that leaves a resource the same answer as the filter does. A mapper of the application's for the same class comes first. */
@Priority(Integer.MAX_VALUE)
public class UnavailableMapper implements ExceptionMapper<RateLimitUnavailableException> {
    private final LazyDeployed deployed = new LazyDeployed();

    @Context
    private @Nullable HttpHeaders headers;

    @Override
    public Response toResponse(RateLimitUnavailableException exception) {
        return deployed.get().refusals().unavailable(exception.retryAfter(), RequestContext.accept(headers));
    }
}
