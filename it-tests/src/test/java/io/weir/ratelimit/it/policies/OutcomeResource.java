// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitKey;
import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.StreamingOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionStage;

/** Each way to end a request. Path rules say under {@code success} and {@code failure} which outcomes count. */
@Path("{counted: success|failure}")
@RequestScoped
public class OutcomeResource {
    @Inject
    Held held;

    @Resource
    ManagedExecutorService executor;

    @GET
    @Path("now/{how}")
    public Response now(@PathParam("how") String how) {
        return Outcome.of(how);
    }

    @GET
    @Path("stage/{how}")
    public CompletionStage<Response> stage(@PathParam("how") String how) {
        return executor.supplyAsync(() -> Outcome.of(how));
    }

    @GET
    @Path("suspended/{how}")
    public void suspended(@PathParam("how") String how, @Suspended AsyncResponse response) {
        executor.execute(() -> resume(response, how));
    }

    /** Answers when {@link #release} is called for the same client. */
    @GET
    @Path("held/{how}")
    public void held(
            @HeaderParam("X-Client") String client, @PathParam("how") String how, @Suspended AsyncResponse response) {
        held.hold(client, () -> resume(response, how));
    }

    @POST
    @Path("release")
    public boolean release(@HeaderParam("X-Client") String client) {
        return held.release(client);
    }

    @GET
    @Path("broken")
    public StreamingOutput broken() {
        return output -> {
            output.write("begun".getBytes(StandardCharsets.UTF_8));
            output.flush();
            throw new IOException("on purpose");
        };
    }

    /** Decided at the method's call, since the key is an argument. */
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
