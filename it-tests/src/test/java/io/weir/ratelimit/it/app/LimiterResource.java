// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import java.util.concurrent.CompletionStage;
import javax.naming.InitialContext;
import javax.naming.NamingException;

/** The injected limiter, for tests to look and spend through. */
@Path("limiter")
@RequestScoped
public class LimiterResource {
    @Inject
    RateLimiter limiter;

    @Inject
    Decisions decisions;

    @GET
    @Path("remaining")
    public long remaining(@QueryParam("policy") String policy, @QueryParam("key") String key) {
        return limiter.peek(policy, identity(key)).get(0).remaining();
    }

    @GET
    @Path("acquire")
    public String acquire(
            @QueryParam("policy") String policy,
            @QueryParam("key") String key,
            @QueryParam("cost") @DefaultValue("1") long cost) {
        return word(limiter.acquire(policy, identity(key), cost));
    }

    /** Acquires, and says whether the thread of the answer has the application's context. */
    @GET
    @Path("acquire-async")
    public CompletionStage<String> acquireAsync(@QueryParam("policy") String policy, @QueryParam("key") String key) {
        return limiter.acquireAsync(policy, identity(key)).thenApply(decision -> word(decision) + " " + context());
    }

    @GET
    @Path("acquire-and-refund")
    public String acquireAndRefund(@QueryParam("policy") String policy, @QueryParam("key") String key) {
        if (limiter.acquire(policy, identity(key), 2) instanceof Decision.Allowed allowed) {
            limiter.refund(allowed.receipt());
            return "refunded";
        }
        return "refused";
    }

    @GET
    @Path("refund")
    public void refund(
            @QueryParam("policy") String policy, @QueryParam("key") String key, @QueryParam("cost") long cost) {
        limiter.refund(policy, identity(key), cost);
    }

    @GET
    @Path("reset")
    public void reset(@QueryParam("policy") String policy, @QueryParam("key") String key) {
        limiter.reset(policy, identity(key));
    }

    /** How many decisions were taken about an endpoint. */
    @GET
    @Path("decisions")
    public int decisions(@QueryParam("endpoint") String endpoint) {
        return decisions.about(endpoint);
    }

    private static String word(Decision decision) {
        return decision.getClass().getSimpleName();
    }

    @SuppressWarnings("BanJNDI") // a fixed name
    private static String context() {
        try {
            InitialContext.doLookup("java:comp/DefaultManagedExecutorService");
            return "in context";
        } catch (NamingException e) {
            return "out of context on " + Thread.currentThread().getName();
        }
    }

    /** {@code client:x}, {@code user:x}, {@code address:x}, {@code code:x}, {@code all}, or {@code anonymous}. */
    private static Identity identity(String key) {
        String[] sides = key.split(":", 2);
        return switch (sides[0]) {
            case "client" -> Identity.header("X-Client", sides[1]);
            case "user" -> Identity.principal(sides[1]);
            case "address" -> Identity.address(sides[1]);
            case "all" -> Identity.GLOBAL;
            case "anonymous" -> Identity.ANONYMOUS;
            case "code" -> Identity.of(sides[1]);
            default -> throw new IllegalArgumentException(key);
        };
    }
}
