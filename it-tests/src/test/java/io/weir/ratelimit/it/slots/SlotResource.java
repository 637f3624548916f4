// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.slots;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitKey;
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
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.StreamingOutput;
import jakarta.ws.rs.sse.Sse;
import jakarta.ws.rs.sse.SseEventSink;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/** Resources that take the only slot of a client. */
@Path("slots")
@RequestScoped
public class SlotResource {
    private static final int MORE_THAN_ANY_BUFFER = 1 << 20;
    private static final long STREAM_SECONDS = 60;

    @Inject
    Running running;

    private final ExecutorService executor = ContainerThreads.executor();

    // --- Responses at once

    @GET
    @Path("now/{how}")
    @RateLimit("one")
    public Response now(@PathParam("how") String how) {
        return response(how);
    }

    @GET
    @Path("nothing")
    @RateLimit("one")
    public void nothing() {}

    /** Has no annotation: a policy of the early phase limits its path. */
    @GET
    @Path("early/{how}")
    public Response early(@PathParam("how") String how) {
        return response(how);
    }

    /** Is decided at the call of the method, because the key is an argument. */
    @GET
    @Path("argument/{how}")
    @RateLimit("by-argument")
    public Response argument(
            @HeaderParam("X-Client") @RateLimitKey("client") String client, @PathParam("how") String how) {
        return response(how);
    }

    @GET
    @Path("big")
    @RateLimit("one")
    public String big() {
        return "x".repeat(MORE_THAN_ANY_BUFFER);
    }

    // --- Asynchronous responses

    @GET
    @Path("stage/{how}")
    @RateLimit("one")
    public CompletionStage<Response> stage(@PathParam("how") String how) {
        return CompletableFuture.supplyAsync(() -> response(how), executor);
    }

    @GET
    @Path("suspended/{how}")
    @RateLimit("one")
    public void suspended(@PathParam("how") String how, @Suspended AsyncResponse response) {
        executor.execute(() -> resume(response, how));
    }

    @GET
    @Path("resumed/{how}")
    @RateLimit("one")
    public void resumed(@PathParam("how") String how, @Suspended AsyncResponse response) {
        resume(response, how);
    }

    @GET
    @Path("timeout")
    @RateLimit("one")
    public void timeout(@Suspended AsyncResponse response) {
        response.setTimeout(50, TimeUnit.MILLISECONDS);
    }

    @GET
    @Path("handled-timeout")
    @RateLimit("one")
    public void handledTimeout(@Suspended AsyncResponse response) {
        response.setTimeoutHandler(late -> late.resume("late"));
        response.setTimeout(50, TimeUnit.MILLISECONDS);
    }

    @GET
    @Path("canceled")
    @RateLimit("one")
    public void canceled(@Suspended AsyncResponse response) {
        executor.execute(response::cancel);
    }

    @GET
    @Path("failing-method")
    @RateLimit("one")
    public void failingMethod(@Suspended AsyncResponse response) {
        throw new IllegalStateException("on purpose");
    }

    // --- Responses that run until the test ends them

    @GET
    @Path("running/suspended")
    @RateLimit("one")
    public void runningSuspended(@HeaderParam("X-Client") String client, @Suspended AsyncResponse response) {
        running.start(client).thenAccept(how -> resume(response, how));
    }

    @GET
    @Path("running/stage")
    @RateLimit("one")
    public CompletionStage<Response> runningStage(@HeaderParam("X-Client") String client) {
        return running.start(client).thenApplyAsync(SlotResource::response, executor);
    }

    @GET
    @Path("running/method")
    @RateLimit("one")
    public Response runningMethod(@HeaderParam("X-Client") String client) {
        return response(running.start(client).join());
    }

    @GET
    @Path("running/stream")
    @RateLimit("one")
    public StreamingOutput runningStream(@HeaderParam("X-Client") String client) {
        return output -> {
            output.write(new byte[MORE_THAN_ANY_BUFFER]);
            output.flush();
            if (running.start(client).join().equals("broken")) {
                throw new IOException("on purpose");
            }
            output.write('z');
        };
    }

    @GET
    @Path("running/events")
    @Produces("text/event-stream")
    @RateLimit("one")
    public void runningEvents(@HeaderParam("X-Client") String client, @Context SseEventSink sink, @Context Sse sse) {
        sink.send(sse.newEvent("one")).thenAccept(sent -> running.start(client).thenAccept(how -> sink.close()));
    }

    /** Waits for its slot without a thread. */
    @GET
    @Path("running/patient")
    @RateLimit("patient")
    public void runningPatient(@HeaderParam("X-Client") String client, @Suspended AsyncResponse response) {
        running.start(client).thenAccept(how -> resume(response, how));
    }

    @GET
    @Path("patient/{how}")
    @RateLimit("patient")
    public CompletionStage<Response> patient(@PathParam("how") String how) {
        return CompletableFuture.supplyAsync(() -> response(how), executor);
    }

    // --- Streams that end when the client has disconnected

    @GET
    @Path("endless/stream")
    @RateLimit("one")
    public StreamingOutput endlessStream() {
        return output -> {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(STREAM_SECONDS);
            while (System.nanoTime() < end) {
                output.write(new byte[MORE_THAN_ANY_BUFFER / 16]);
                output.flush();
                pause();
            }
        };
    }

    @GET
    @Path("endless/events")
    @Produces("text/event-stream")
    @RateLimit("one")
    public void endlessEvents(@Context SseEventSink sink, @Context Sse sse) {
        sink.send(sse.newEvent("first")).thenRun(() -> executor.execute(() -> sendEvents(sink, sse)));
    }

    private static void sendEvents(SseEventSink sink, Sse sse) {
        String text = "x".repeat(MORE_THAN_ANY_BUFFER / 16);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(STREAM_SECONDS);
        while (System.nanoTime() < end && !sink.isClosed()) {
            try {
                sink.send(sse.newEvent(text)).toCompletableFuture().get(STREAM_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException | ExecutionException | TimeoutException | RuntimeException e) {
                return; // and the sink stays open
            }
            pause();
        }
    }

    private static void pause() {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
    }

    static Response response(String how) {
        return switch (how) {
            case "unmapped" -> throw new IllegalStateException("on purpose");
            case "302" -> Response.status(302).header("Location", "/").build();
            default ->
                Response.status(Integer.parseInt(how))
                        .entity(how.equals("204") ? null : "answer")
                        .build();
        };
    }

    private static void resume(AsyncResponse response, String how) {
        try {
            response.resume(response(how));
        } catch (RuntimeException e) {
            response.resume(e);
        }
    }
}
