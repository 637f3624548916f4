// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitKey;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

/**
 * A login with limits by address, by username and by the pair of both, in one decision. Responses disclose no quotas.
 */
@RequestScoped
@Path("login")
public class LoginResource {
    private static final String PASSWORD = "secret";

    @POST
    @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
    @Produces(MediaType.TEXT_PLAIN)
    @RateLimit({"login-ip", "login-user", "login-pair"})
    public Response login(
            @FormParam("username") @RateLimitKey("username") String username, @FormParam("password") String password) {
        return PASSWORD.equals(password)
                ? Response.ok("Welcome\n").build()
                : Response.status(Response.Status.UNAUTHORIZED)
                        .entity("Wrong username or password\n")
                        .build();
    }
}
