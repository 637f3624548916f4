// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import io.weir.ratelimit.RateLimit;
import jakarta.annotation.security.RolesAllowed;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;

/** Resources with one method for each kind of key. */
@Path("caller")
@RequestScoped
public class CallerResource {
    @GET
    @Path("shadow")
    @RateLimit("shadow")
    public String shadow() {
        return "shadow";
    }

    @GET
    @Path("shadow-and-enforced")
    @RateLimit({"shadow", "enforced"})
    public String shadowAndEnforced() {
        return "both";
    }

    @GET
    @Path("off")
    @RateLimit("off")
    public String off() {
        return "off";
    }

    @GET
    @Path("tier")
    @RateLimit("tiered")
    public String tier() {
        return "tier";
    }

    @GET
    @Path("tier-of-bean")
    @RateLimit("tiered-by-bean")
    public String tierOfBean() {
        return "tier";
    }

    @GET
    @Path("tenant")
    @RateLimit("by-tenant")
    public String tenant() {
        return "tenant";
    }

    @GET
    @Path("cookie")
    @RateLimit("by-cookie")
    public String cookie() {
        return "cookie";
    }

    @GET
    @Path("query")
    @RateLimit("by-query")
    public String query() {
        return "query";
    }

    @GET
    @Path("path/{id}")
    @RateLimit("by-path-parameter")
    public String path(@PathParam("id") String id) {
        return id;
    }

    @GET
    @Path("method-one")
    @RateLimit("by-method")
    public String methodOne() {
        return "one";
    }

    @GET
    @Path("method-two")
    @RateLimit("by-method")
    public String methodTwo() {
        return "two";
    }

    @GET
    @Path("pair")
    @RateLimit("by-pair")
    public String pair() {
        return "pair";
    }

    @GET
    @Path("ip")
    @RateLimit("by-ip")
    public String ip() {
        return "ip";
    }

    @GET
    @Path("orgs/{org}/teams/{team}/users/{user}")
    @RateLimit({"org", "team", "user"})
    public String hierarchy(@PathParam("user") String user) {
        return user;
    }

    @GET
    @Path("once")
    @RateLimit("once")
    public String once() {
        return "once";
    }

    @GET
    @Path("role")
    @RolesAllowed({"user", "guest"})
    @RateLimit("once")
    public String role() {
        return "role";
    }
}
