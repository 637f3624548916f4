// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.RateLimitExceededException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import org.jspecify.annotations.Nullable;

/** Gives a refusal that leaves a resource the same answer as one of the filter's. */
public class ExceededMapper implements ExceptionMapper<RateLimitExceededException> {
    private volatile @Nullable Deployed deployed;

    @Override
    public Response toResponse(RateLimitExceededException exception) {
        Deployed known = deployed;
        if (known == null) {
            known = Deployed.find();
            deployed = known;
        }
        return Refusals.exceeded(exception.decision(), known.dialects(), System.currentTimeMillis() / 1_000);
    }
}
