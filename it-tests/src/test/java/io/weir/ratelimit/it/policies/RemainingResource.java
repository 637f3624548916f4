// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimitExempt;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;

/** The remaining permits of the caller. */
@Path("remaining/{policy}")
@RequestScoped
@RateLimitExempt
public class RemainingResource {
    @Inject
    RateLimiter limiter;

    @GET
    public long remaining(@PathParam("policy") String policy) {
        return limiter.peek(policy).get(0).remaining();
    }

    /** Resets the anonymous key. */
    @DELETE
    @Path("anonymous")
    public void resetAnonymous(@PathParam("policy") String policy) {
        limiter.reset(policy, Identity.ANONYMOUS);
    }

    @DELETE
    @Path("loopback")
    public void resetLoopback(@PathParam("policy") String policy) {
        limiter.reset(policy, Identity.address("127.0.0.1"));
    }
}
