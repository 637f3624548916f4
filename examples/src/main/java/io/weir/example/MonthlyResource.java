// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** A resource with a quota per customer and month of the calendar. */
@RequestScoped
@Path("monthly")
public class MonthlyResource {
    @GET
    @Produces(MediaType.TEXT_PLAIN)
    @RateLimit("monthly")
    public String monthly() {
        return "One call of this month\n";
    }
}
