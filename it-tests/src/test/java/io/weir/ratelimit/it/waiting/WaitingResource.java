// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.waiting;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** A resource under policies whose slots are near or far. */
@RequestScoped
@Path("waiting")
public class WaitingResource {
    private static final Identity CODE = Identity.of("code");

    @Inject
    private RateLimiter limiter;

    @Inject
    private Visit visit;

    /** Returns how many slots of each asynchronous form are assigned. No policy applies to it. */
    @GET
    public String exempt() {
        return slots(Identity.method("WaitingResource.farStage"))
                + " "
                + slots(Identity.method("WaitingResource.farSuspended"))
                + " "
                + slots(CODE);
    }

    private long slots(Identity key) {
        long minute = TimeUnit.MINUTES.toMicros(1);
        return (limiter.peek("far", key).get(0).resetAfter().toNanos() / 1_000 + minute - 1) / minute;
    }

    @GET
    @Path("far/stage")
    @RateLimit("far")
    public CompletionStage<String> farStage() {
        return CompletableFuture.completedStage("stage");
    }

    @GET
    @Path("far/suspended")
    @RateLimit("far")
    public void farSuspended(@Suspended AsyncResponse response) {
        response.resume("suspended");
    }

    @GET
    @Path("far/code")
    public CompletionStage<String> farCode() {
        return limiter.acquireAsync("far", CODE).thenApply(decision -> "code " + decision.allowed());
    }

    @GET
    @Path("fast/stage")
    @RateLimit("fast")
    public CompletionStage<String> fastStage(@QueryParam("text") String text) {
        return CompletableFuture.completedStage(visit.loader() + " " + text);
    }

    @GET
    @Path("fast/suspended")
    @RateLimit("fast")
    public void fastSuspended(@Suspended AsyncResponse response, @QueryParam("text") String text) {
        response.resume(visit.loader() + " " + text);
    }

    @GET
    @Path("window/stage")
    @RateLimit("window")
    public CompletionStage<String> windowStage() {
        return CompletableFuture.completedStage("stage");
    }

    @GET
    @Path("window/suspended")
    @RateLimit("window")
    public void windowSuspended(@Suspended AsyncResponse response) {
        response.resume("suspended");
    }

    /** Waits on the thread of the request, with 16 others. */
    @GET
    @Path("partner/sixteen")
    @RateLimit("sixteen")
    public String sixteen() {
        return "thread";
    }

    /** Waits on the thread of the request. */
    @GET
    @Path("partner/thread")
    @RateLimit("partner")
    public String thread() {
        return "thread";
    }

    @GET
    @Path("partner/stage")
    @RateLimit("partner")
    public CompletionStage<String> stage() {
        return CompletableFuture.completedStage("stage");
    }

    @GET
    @Path("partner/suspended")
    @RateLimit("partner")
    public void suspended(@Suspended AsyncResponse response) {
        response.resume("suspended");
    }

    @GET
    @Path("partner/code")
    public CompletionStage<String> code() {
        return limiter.acquireAsync("partner", CODE).thenApply(decision -> "code " + decision.allowed());
    }
}
