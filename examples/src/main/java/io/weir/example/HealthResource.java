// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimitExempt;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** A resource that is exempt from limits. */
@RequestScoped
@Path("health")
public class HealthResource {
    @GET
    @Produces(MediaType.APPLICATION_JSON)
    @RateLimitExempt
    public Health health() {
        return new Health("UP");
    }

    /** The state of the application. */
    public record Health(String status) {}
}
