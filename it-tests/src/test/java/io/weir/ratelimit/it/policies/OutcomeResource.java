// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitKey;
import io.weir.ratelimit.it.ContainerThreads;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
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
import java.util.concurrent.ExecutorService;

/** Resources with one method for each kind of outcome. Path rules count successes under {@code success} and failures under {@code failure}. */
@Path("{counted: success|failure}")
@RequestScoped
public class OutcomeResource {
    private static final int MORE_THAN_ANY_BUFFER = 1 << 20;

    @Inject
    PendingResponses pending;

    private final ExecutorService executor = ContainerThreads.executor();

    @GET
    @Path("now/{how}")
    public Response now(@PathParam("how") String how) {
        return Outcome.of(how);
    }

    @GET
    @Path("stage/{how}")
    public CompletionStage<Response> stage(@PathParam("how") String how) {
        return CompletableFuture.supplyAsync(() -> Outcome.of(how), executor);
    }

    @GET
    @Path("suspended/{how}")
    public void suspended(@PathParam("how") String how, @Suspended AsyncResponse response) {
        executor.execute(() -> resume(response, how));
    }

    /** Completes when {@link #release} is called for the same client. */
    @GET
    @Path("pending/{how}")
    public void pending(
            @HeaderParam("X-Client") String client, @PathParam("how") String how, @Suspended AsyncResponse response) {
        pending.add(client, () -> resume(response, how));
    }

    @GET
    @Path("pending-stage/{how}")
    public CompletionStage<Response> pendingStage(
            @HeaderParam("X-Client") String client, @PathParam("how") String how) {
        CompletableFuture<Response> response = new CompletableFuture<>();
        pending.add(client, () -> response.completeAsync(() -> Outcome.of(how), executor));
        return response;
    }

    /** Sends an event when {@link #release} is called. */
    @GET
    @Path("pending-events")
    @Produces("text/event-stream")
    public void pendingEvents(@HeaderParam("X-Client") String client, @Context SseEventSink sink, @Context Sse sse) {
        pending.add(client, () -> sink.send(sse.newEvent("one")).whenComplete((sent, failure) -> sink.close()));
    }

    @POST
    @Path("release")
    public boolean release(@HeaderParam("X-Client") String client) {
        return pending.release(client);
    }

    @GET
    @Path("broken")
    public StreamingOutput broken() {
        return output -> {
            output.write(new byte[MORE_THAN_ANY_BUFFER]);
            output.flush();
            throw new IOException("on purpose");
        };
    }

    /** Is decided at the call of the method, because the key is an argument. */
    @POST
    @Path("login")
    @RateLimit("tries")
    public Response login(
            @FormParam("username") @RateLimitKey("username") String username, @FormParam("password") String password) {
        return Response.status(password.equals("secret") ? 200 : 401)
                .entity(username)
                .build();
    }

    private static void resume(AsyncResponse response, String how) {
        try {
            response.resume(Outcome.of(how));
        } catch (RuntimeException e) {
            response.resume(e);
        }
    }
}
