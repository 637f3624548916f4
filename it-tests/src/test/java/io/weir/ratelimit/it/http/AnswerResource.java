// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.http;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.OPTIONS;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

/** Resources with synchronous responses. */
@Path("answer")
@RequestScoped
public class AnswerResource {
    @Inject
    RateLimiter limiter;

    @Inject
    SecretWork work;

    /** Names the default, because Quarkus produces only text from a {@code String} otherwise. */
    @GET
    @Path("plain")
    @Produces(MediaType.WILDCARD)
    @RateLimit("plain")
    public String plain() {
        return "plain";
    }

    /** Returns the thread of the request, also whether it is virtual. */
    @GET
    @Path("thread")
    @RateLimit("plain")
    public String thread() {
        return Thread.currentThread().toString();
    }

    @GET
    @Path("helped")
    @RateLimit({"plain", "helped"})
    public String helped() {
        return "helped";
    }

    @GET
    @Path("orgs")
    @RateLimit({"org", "team", "user"})
    public String orgs() {
        return "orgs";
    }

    @GET
    @Path("by-ip")
    @RateLimit("by-ip")
    public String byIp() {
        return "by ip";
    }

    @GET
    @Path("by-ip-of-hops")
    @RateLimit("by-ip-of-hops")
    public String byIpOfHops() {
        return "by ip";
    }

    @GET
    @Path("fixed-window")
    @RateLimit("fixed-window")
    public String fixedWindow() {
        return "fixed-window";
    }

    @GET
    @Path("sliding-window")
    @RateLimit("sliding-window")
    public String slidingWindow() {
        return "sliding-window";
    }

    @GET
    @Path("sliding-log")
    @RateLimit("sliding-log")
    public String slidingLog() {
        return "sliding-log";
    }

    @GET
    @Path("token-bucket")
    @RateLimit("token-bucket")
    public String tokenBucket() {
        return "token-bucket";
    }

    @GET
    @Path("leaky-bucket")
    @RateLimit("leaky-bucket")
    public String leakyBucket() {
        return "leaky-bucket";
    }

    /** Calls a bean with minimal disclosure under a policy with full disclosure. */
    @GET
    @Path("secret-bean")
    @RateLimit("wide")
    public String secretBean() {
        return work.secret();
    }

    @GET
    @Path("secret")
    @RateLimit({"wide", "secret"})
    public String secret() {
        return "secret";
    }

    /** Acquires permits by code and throws the rejection. */
    @GET
    @Path("secret-code")
    @RateLimit("wide")
    public String secretCode(@HeaderParam("X-Client") String client) {
        limiter.acquire("secret", Identity.header("X-Client", client)).orThrow();
        return "secret";
    }

    @GET
    @Path("preflight")
    @RateLimit("plain")
    public String preflighted() {
        return "preflighted";
    }

    @OPTIONS
    @Path("preflight")
    @RateLimit("plain")
    public Response preflight() {
        return Response.noContent().build();
    }

    @GET
    @Path("mapped")
    @RateLimit("plain")
    public String mapped() {
        throw new Teapot();
    }

    @Path("located/{name}")
    public Located located(@PathParam("name") String name) {
        return new Located(name);
    }

    /** A resource that a locator creates. */
    public static class Located {
        private final String name;

        Located(String name) {
            this.name = name;
        }

        @GET
        @RateLimit("plain")
        public String get() {
            return name;
        }
    }

    /** Returns the remaining permits of a client. */
    @GET
    @Path("remaining")
    public long remaining(@QueryParam("policy") String policy, @QueryParam("client") String client) {
        return limiter.peek(policy, Identity.header("X-Client", client)).get(0).remaining();
    }
}
