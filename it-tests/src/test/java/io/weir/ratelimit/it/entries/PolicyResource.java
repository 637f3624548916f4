// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.entries;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;

/** Returns what has become of the calls under a policy, and lets it begin again. */
@RequestScoped
@Path("policies/{policy}")
public class PolicyResource {
    @Inject
    Seen seen;

    @Inject
    RateLimiter limiter;

    @GET
    public String seen(@PathParam("policy") String policy) {
        return String.join(" ", seen.of(policy));
    }

    @DELETE
    public void reset(@PathParam("policy") String policy) {
        limiter.reset(policy, Identity.GLOBAL);
        limiter.reset(policy, Identity.ANONYMOUS);
    }
}
