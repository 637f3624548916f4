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

/** A resource that exposes the injected limiter to tests. */
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
        return limiter.peek(policy, key(key)).get(0).remaining();
    }

    @GET
    @Path("acquire")
    public String acquire(
            @QueryParam("policy") String policy,
            @QueryParam("key") String key,
            @QueryParam("cost") @DefaultValue("1") long cost) {
        return word(limiter.acquire(policy, key(key), cost));
    }

    /** Acquires permits and returns whether the thread of the result has the context of the application. */
    @GET
    @Path("acquire-async")
    public CompletionStage<String> acquireAsync(@QueryParam("policy") String policy, @QueryParam("key") String key) {
        return limiter.acquireAsync(policy, key(key)).thenApply(decision -> word(decision) + " " + context());
    }

    @GET
    @Path("acquire-and-refund")
    public String acquireAndRefund(@QueryParam("policy") String policy, @QueryParam("key") String key) {
        if (limiter.acquire(policy, key(key), 2) instanceof Decision.Allowed allowed) {
            limiter.refund(allowed.receipt());
            return "refunded";
        }
        return "rejected";
    }

    @GET
    @Path("refund")
    public void refund(
            @QueryParam("policy") String policy, @QueryParam("key") String key, @QueryParam("cost") long cost) {
        limiter.refund(policy, key(key), cost);
    }

    @GET
    @Path("reset")
    public void reset(@QueryParam("policy") String policy, @QueryParam("key") String key) {
        limiter.reset(policy, key(key));
    }

    /** Returns the number of decisions for an endpoint. */
    @GET
    @Path("decisions")
    public int decisions(@QueryParam("endpoint") String endpoint) {
        return decisions.count(endpoint);
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

    /** Returns the key of {@code client:x}, {@code user:x}, {@code address:x}, {@code code:x}, {@code all}, or {@code anonymous}. */
    private static Identity key(String key) {
        String[] parts = key.split(":", 2);
        return switch (parts[0]) {
            case "client" -> Identity.header("X-Client", parts[1]);
            case "user" -> Identity.principal(parts[1]);
            case "address" -> Identity.address(parts[1]);
            case "all" -> Identity.GLOBAL;
            case "anonymous" -> Identity.ANONYMOUS;
            case "code" -> Identity.of(parts[1]);
            default -> throw new IllegalArgumentException(key);
        };
    }
}
