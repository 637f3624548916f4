// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Response;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

@Path("charge")
public class ChargeResource {
    @Inject
    Work work;

    @GET
    @Path("several")
    @RateLimit({"wide", "narrow"})
    public String several() {
        return "several";
    }

    @GET
    @Path("once")
    @RateLimit("once")
    public String once() {
        return work.once();
    }

    @GET
    @Path("repeated")
    @RateLimit("repeated")
    public String repeated(@QueryParam("calls") int calls) {
        for (int i = 0; i < calls; i++) {
            work.repeated();
        }
        return "repeated";
    }

    @GET
    @Path("dearer")
    @RateLimit("dearer")
    public String dearer() {
        return work.dearer();
    }

    @GET
    @Path("below")
    public String below() {
        return work.below();
    }

    @GET
    @Path("handled")
    public Response handled() {
        try {
            return Response.ok(work.below()).build();
        } catch (RateLimitExceededException e) {
            return Response.status(409)
                    .entity("retry after "
                            + e.retryAfter().orElseThrow().plusMillis(999).toSeconds())
                    .build();
        }
    }

    @GET
    @Path("soon")
    @RateLimit("soon")
    public String soon() {
        return "soon";
    }

    @GET
    @Path("later")
    @RateLimit("later")
    public CompletionStage<String> later() {
        return CompletableFuture.supplyAsync(() -> "later");
    }

    @POST
    @Path("post")
    @RateLimit("posted")
    public String post(String text) {
        return text;
    }

    @Path("sub-inline")
    public InlineSubResource inlinePolicy() {
        return new InlineSubResource();
    }

    @Path("sub")
    public SubResource sub() {
        return new SubResource();
    }
}
