// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import io.weir.ratelimit.RateLimitKey;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.QueryParam;

/** Resources that path rules limit. */
@Path("ruled")
@RequestScoped
public class PathRuleResource {
    @GET
    @Path("plain")
    public String plain() {
        return "plain";
    }

    @POST
    @Path("plain")
    public String post() {
        return "posted";
    }

    @GET
    @Path("of/{id}/parts")
    public String parts(@PathParam("id") String id) {
        return id;
    }

    @GET
    @Path("tree")
    public String root() {
        return "root";
    }

    @GET
    @Path("tree/{rest: .*}")
    public String tree(@PathParam("rest") String rest) {
        return rest;
    }

    @GET
    @Path("tree/exempt")
    @RateLimitExempt
    public String exempt() {
        return "exempt";
    }

    @GET
    @Path("joined")
    @RateLimit("own")
    public String joined() {
        return "joined";
    }

    @GET
    @Path("argument")
    @RateLimit("by-argument")
    public String argument(@QueryParam("user") @RateLimitKey("user") String user) {
        return user;
    }

    @GET
    @Path("priced/{name: .*}")
    public String priced(@PathParam("name") String name) {
        return name;
    }

    @GET
    @Path("expensive")
    @RateLimit("own-expensive")
    public String expensive() {
        return "expensive";
    }

    @GET
    @Path("unruled")
    public String unruled() {
        return "unruled";
    }

    @Path("located/{name}")
    public Located located(@PathParam("name") String name) {
        return new Located(name);
    }

    /** A resource that a locator creates, which is not a bean. Quarkus accepts no record. */
    public static final class Located {
        private final String name;

        Located(String name) {
            this.name = name;
        }

        @GET
        public String get() {
            return name;
        }

        @GET
        @Path("own")
        @RateLimit("own")
        public String own() {
            return name;
        }
    }
}
