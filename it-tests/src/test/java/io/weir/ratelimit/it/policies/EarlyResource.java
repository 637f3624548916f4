// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import io.weir.ratelimit.RateLimit;
import jakarta.annotation.security.RolesAllowed;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

/** Resources under a policy of the early phase. */
@Path("early")
@RequestScoped
public class EarlyResource {
    @GET
    @Path("locked")
    @RolesAllowed("user")
    public String locked() {
        return "locked";
    }

    @GET
    @Path("both")
    @RateLimit("late")
    public String both() {
        return "both";
    }
}
