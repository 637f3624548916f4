// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitKey;
import jakarta.annotation.security.RolesAllowed;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;

@Path("key")
@RequestScoped
public class KeyResource {
    @Inject
    Work work;

    /** Requires a role by annotation only. */
    @GET
    @Path("user")
    @RolesAllowed("user")
    @RateLimit("by-user")
    public String user() {
        return "user";
    }

    /** Requires a role by {@code web.xml}. */
    @GET
    @Path("locked")
    @RateLimit("by-user")
    public String locked() {
        return "locked";
    }

    /** Has the same policy without a login. */
    @GET
    @Path("visitor")
    @RateLimit("by-user")
    public String visitor() {
        return "visitor";
    }

    @GET
    @Path("api-key")
    @RateLimit("by-api-key")
    public String apiKey() {
        return "api-key";
    }

    @GET
    @Path("ip-and-api-key")
    @RateLimit("by-ip-and-api-key")
    public String ipAndApiKey() {
        return "ip-and-api-key";
    }

    @GET
    @Path("global")
    @RateLimit("by-nothing")
    public String global() {
        return "global";
    }

    @GET
    @Path("argument")
    @RateLimit("by-argument")
    public String argument(@QueryParam("user") @RateLimitKey("user") String user) {
        return work.sameUser(user);
    }

    @POST
    @Path("argument")
    @RateLimit("by-argument")
    public String body(@RateLimitKey("user") String user) {
        return "" + user.length();
    }

    @GET
    @Path("argument-of-bean")
    public String argumentOfBean(@QueryParam("user") String user) {
        return work.forUser("for ", user);
    }
}
