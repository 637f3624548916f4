// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** A resource with a quota per customer and month of the calendar. */
@RequestScoped
@Path("monthly")
public class MonthlyResource {
    @Inject
    MonthlyNotices notices;

    @GET
    @Produces(MediaType.TEXT_PLAIN)
    @RateLimit("monthly")
    public String monthly() {
        return "One call of this month\n";
    }

    /** Returns the notices that the customer has received. */
    @GET
    @Path("notices")
    @Produces(MediaType.TEXT_PLAIN)
    public String notices(@HeaderParam("X-Customer") String customer) {
        return String.join("", notices.of(customer));
    }
}
