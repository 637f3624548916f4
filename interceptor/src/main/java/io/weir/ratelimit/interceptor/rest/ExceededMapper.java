// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.RateLimitExceededException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;

/** Gives a refusal that leaves a resource the same answer as one of the filter's. */
public class ExceededMapper implements ExceptionMapper<RateLimitExceededException> {
    private final LazyDeployed deployed = new LazyDeployed();

    @Override
    public Response toResponse(RateLimitExceededException exception) {
        return Refusals.exceeded(exception.decision(), deployed.get().fields(), QuotaView.now());
    }
}
