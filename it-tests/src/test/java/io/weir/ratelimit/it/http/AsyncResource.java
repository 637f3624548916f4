// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.http;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.it.ContainerThreads;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.StreamingOutput;
import jakarta.ws.rs.sse.Sse;
import jakarta.ws.rs.sse.SseEventSink;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/** Resources with asynchronous or streamed responses. */
@Path("async")
@RequestScoped
public class AsyncResource {
    @Inject
    RateLimiter limiter;

    @GET
    @Path("stage")
    @RateLimit("twice")
    public CompletionStage<String> stage() {
        return CompletableFuture.supplyAsync(() -> "stage", ContainerThreads.executor());
    }

    /** Acquires permits by code on another thread. */
    @GET
    @Path("stage-rejected")
    public CompletionStage<String> stageRejected(@HeaderParam("X-Client") String client) {
        return limiter.acquireAsync("plain", Identity.header("X-Client", client))
                .thenApply(decision -> {
                    decision.orThrow();
                    return "allowed";
                });
    }

    /** Waits for another thread, whose rejection the future wraps. */
    @GET
    @Path("waits/{how}")
    public String waits(@PathParam("how") String how, @HeaderParam("X-Client") String client)
            throws ExecutionException, InterruptedException {
        CompletableFuture<String> allowed = CompletableFuture.supplyAsync(
                () -> {
                    limiter.acquire("plain", Identity.header("X-Client", client))
                            .orThrow();
                    return "allowed";
                },
                ContainerThreads.executor());
        return how.equals("join") ? allowed.join() : allowed.get();
    }

    @GET
    @Path("suspended")
    @RateLimit("twice")
    public void suspended(@Suspended AsyncResponse response) {
        ContainerThreads.executor().execute(() -> response.resume("resumed"));
    }

    @GET
    @Path("events")
    @Produces("text/event-stream")
    @RateLimit("twice")
    public void events(@Context SseEventSink sink, @Context Sse sse) {
        sink.send(sse.newEvent("one")).whenComplete((sent, failure) -> sink.close());
    }

    @GET
    @Path("streamed")
    @RateLimit("twice")
    public StreamingOutput streamed() {
        return output -> {
            for (int i = 0; i < 3; i++) {
                output.write("bit ".getBytes(StandardCharsets.UTF_8));
                output.flush();
            }
        };
    }
}
