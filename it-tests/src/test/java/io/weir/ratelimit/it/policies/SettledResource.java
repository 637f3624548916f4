// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RequestCharges;
import io.weir.ratelimit.it.ContainerThreads;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.StreamingOutput;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;

/** Resources that reserve 20 permits and settle another cost. */
@Path("settled")
@RequestScoped
public class SettledResource {
    private static final int MORE_THAN_ANY_BUFFER = 1 << 20;

    @Inject
    RequestCharges charges;

    private final ExecutorService executor = ContainerThreads.executor();

    @GET
    @Path("now/{cost}")
    @RateLimit(value = "settled", cost = 20)
    public String now(@PathParam("cost") long cost) {
        charges.settle("settled", cost);
        charges.settle("settled", 1);
        charges.settle("settled-success", 1); // not charged to this request
        return "settled";
    }

    @GET
    @Path("stage/{cost}")
    @RateLimit(value = "settled", cost = 20)
    public CompletionStage<String> stage(@PathParam("cost") long cost) {
        return charges.settleAsync("settled", cost).thenApply(done -> "settled");
    }

    /** Settles on another thread. */
    @GET
    @Path("thread/{cost}")
    @RateLimit(value = "settled", cost = 20)
    public void thread(@PathParam("cost") long cost, @Suspended AsyncResponse response) {
        RequestCharges captured = charges.capture();
        executor.execute(() -> {
            captured.settle("settled", cost);
            response.resume("settled");
        });
    }

    /** Settles after the client has received a part of the response. */
    @GET
    @Path("stream/{cost}")
    @RateLimit(value = "settled", cost = 20)
    public StreamingOutput stream(@PathParam("cost") long cost) {
        RequestCharges captured = charges.capture();
        return output -> {
            output.write(new byte[MORE_THAN_ANY_BUFFER]);
            output.flush();
            captured.settle("settled", cost);
        };
    }

    @GET
    @Path("success/{how}/{cost}")
    @RateLimit(value = "settled-success", cost = 20)
    public Response success(@PathParam("how") String how, @PathParam("cost") long cost) {
        charges.settle("settled-success", cost);
        return Outcome.of(how);
    }
}
