// SPDX-License-Identifier: Apache-2.0
package io.weir.example.helidon;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.ServiceUnavailableException;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.StreamingOutput;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Calls of which one runs at a time. The policy {@code slow} has one slot, and each response releases it in another way. */
@RequestScoped
@Path("slow")
@Produces("text/plain")
public class SlowResource {
    private static final int LINES = 200;

    @Inject
    private RateLimiter limiter;

    /**
     * Returns the free slots, without taking one.
     *
     * @return 0 or 1
     */
    @GET
    @Path("free")
    public long free() {
        return limiter.peek("slow", Identity.GLOBAL).get(0).remaining();
    }

    /**
     * Returns a text.
     *
     * @return the text
     */
    @GET
    @Path("text")
    @RateLimit("slow")
    public String text() {
        return "text\n";
    }

    /** Has no body. */
    @GET
    @Path("nothing")
    @RateLimit("slow")
    public void nothing() {}

    /**
     * Fails with an exception that has no mapper.
     *
     * @return nothing
     */
    @GET
    @Path("failure")
    @RateLimit("slow")
    public String failure() {
        throw new IllegalStateException("on purpose");
    }

    /**
     * Responds later. The failure is one that Jersey maps to a response: for others, Helidon 4.4 can send two responses.
     *
     * @param how the outcome: {@code value} or {@code failure}
     * @return a stage with the text
     */
    @GET
    @Path("stage/{how}")
    @RateLimit("slow")
    public CompletionStage<String> stage(@PathParam("how") String how) {
        return CompletableFuture.supplyAsync(() -> {
            if (how.equals("failure")) {
                throw new ServiceUnavailableException("on purpose");
            }
            return "stage\n";
        });
    }

    /**
     * Resumes its response on another thread.
     *
     * @param response the response
     */
    @GET
    @Path("suspended")
    @RateLimit("slow")
    public void suspended(@Suspended AsyncResponse response) {
        ForkJoinPool.commonPool().execute(() -> response.resume("resumed\n"));
    }

    /**
     * Never resumes its response, which times out.
     *
     * @param response the response
     */
    @GET
    @Path("timeout")
    @RateLimit("slow")
    public void timeout(@Suspended AsyncResponse response) {
        response.setTimeout(50, TimeUnit.MILLISECONDS);
    }

    /**
     * Writes lines for some seconds.
     *
     * @return the lines
     */
    @GET
    @Path("stream")
    @RateLimit("slow")
    public StreamingOutput stream() {
        return output -> {
            for (int line = 0; line < LINES; line++) {
                output.write("x".repeat(10_000).concat("\n").getBytes(StandardCharsets.US_ASCII));
                output.flush();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
        };
    }
}
