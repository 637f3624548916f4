// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/**
 * A resource with a limit that depends on the plan of the caller. For brevity, a header contains the plan. A real application uses a
 * source that the caller cannot choose, such as a claim of a JWT.
 */
@RequestScoped
@Path("plans/me")
public class PlanResource {
    @GET
    @Produces(MediaType.APPLICATION_JSON)
    @RateLimit("plan")
    public Plan plan(@HeaderParam("X-Plan") @DefaultValue("free") String plan) {
        return new Plan(plan);
    }

    /**
     * The plan of the caller.
     *
     * @param name the name of the plan
     */
    public record Plan(String name) {}
}
