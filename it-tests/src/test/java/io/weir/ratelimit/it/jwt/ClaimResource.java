// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.jwt;

import io.weir.ratelimit.RateLimit;
import jakarta.annotation.security.RolesAllowed;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

@Path("claim")
@RequestScoped
public class ClaimResource {
    @GET
    @Path("open")
    public String open() {
        return "open";
    }

    @GET
    @Path("tenant")
    @RolesAllowed("user")
    @RateLimit("by-tenant")
    public String tenant() {
        return "tenant";
    }

    @GET
    @Path("plan")
    @RolesAllowed("user")
    @RateLimit("by-user")
    public String plan() {
        return "plan";
    }

    @GET
    @Path("organization")
    @RolesAllowed("user")
    @RateLimit("by-organization")
    public String organization() {
        return "organization";
    }

    @GET
    @Path("missing")
    @RolesAllowed("user")
    @RateLimit("by-missing")
    public String missing() {
        return "missing";
    }
}
