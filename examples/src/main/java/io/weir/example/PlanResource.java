// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/**
 * A limit that depends on the caller's plan. The plan is read from a header to keep the example short; a real one comes from what
 * the caller cannot choose, such as a claim of its token.
 */
@Path("plans/me")
public class PlanResource {
    @GET
    @Produces(MediaType.APPLICATION_JSON)
    @RateLimit("plan")
    public Plan plan(@HeaderParam("X-Plan") @DefaultValue("free") String plan) {
        return new Plan(plan);
    }

    /** A plan's name. */
    public record Plan(String name) {}
}
