// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** A token bucket: a burst is welcome, a steady stream is not. */
@Path("bursty")
public class BurstyResource {
    @GET
    @Produces(MediaType.TEXT_PLAIN)
    @RateLimit("bursty")
    public String bursty() {
        return "One of a burst\n";
    }
}
