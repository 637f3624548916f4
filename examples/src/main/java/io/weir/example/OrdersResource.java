// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;

/** A resource with limits per organization, per team and per user, in one atomic decision. */
@RequestScoped
@Path("orgs/{org}/teams/{team}/users/{user}/orders")
public class OrdersResource {
    @GET
    @Produces(MediaType.APPLICATION_JSON)
    @RateLimit({"org", "team", "user"})
    public Orders orders(@PathParam("user") String user) {
        return new Orders(user, List.of("2001", "2002"));
    }

    /**
     * The orders of a user.
     *
     * @param user the user
     * @param orders the order numbers
     */
    public record Orders(String user, List<String> orders) {}
}
