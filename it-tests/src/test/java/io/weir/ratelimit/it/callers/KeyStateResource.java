// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.callers;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;

/** The key of visitors. */
@Path("keys/{policy}")
@RequestScoped
public class KeyStateResource {
    @Inject
    RateLimiter limiter;

    @Inject
    Ticker.Runs runs;

    @GET
    @Path("runs")
    public String runs() {
        return runs.toString();
    }

    @GET
    public long remainingOfVisitors(@PathParam("policy") String policy) {
        return limiter.peek(policy, Identity.ANONYMOUS).get(0).remaining();
    }

    @DELETE
    public void reset(@PathParam("policy") String policy) {
        limiter.reset(policy, Identity.ANONYMOUS);
        limiter.reset(policy, Identity.principal("ann"));
        limiter.reset(policy, Identity.principal("ben"));
    }
}
