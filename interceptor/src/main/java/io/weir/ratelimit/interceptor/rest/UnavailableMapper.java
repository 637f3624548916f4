// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.RateLimitUnavailableException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;

/** Gives a store that does not answer, under a closed policy, the same answer as the filter does. */
public class UnavailableMapper implements ExceptionMapper<RateLimitUnavailableException> {
    @Override
    public Response toResponse(RateLimitUnavailableException exception) {
        return Refusals.unavailable();
    }
}
