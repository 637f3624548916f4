// SPDX-License-Identifier: Apache-2.0
package io.weir.example.quarkus;

import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.RateLimit;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.time.Duration;

/** The resources of the example. */
@Path("hello")
public class HelloResource {
    @Inject
    Stock stock;

    /** Runs on a worker thread. */
    @GET
    @RateLimit("hello")
    public String hello() {
        return "Hello\n";
    }

    /** Has no limit. */
    @GET
    @Path("free")
    public String free() {
        return "Hello without a limit\n";
    }

    /** Runs on an event loop. */
    @GET
    @Path("reactive")
    @RateLimit("reactive")
    public Uni<String> reactive() {
        return Uni.createFrom().item("Hello from an event loop\n");
    }

    /** Streams numbers. Each stream of a client has a slot of two. */
    @GET
    @Path("numbers")
    @Produces(MediaType.SERVER_SENT_EVENTS)
    @RateLimit("streams")
    public Multi<Long> numbers() {
        return Multi.createFrom().ticks().every(Duration.ofSeconds(1));
    }

    /** Calls a limited bean. */
    @GET
    @Path("stock")
    public Uni<Integer> stock() {
        return stock.count();
    }
}
