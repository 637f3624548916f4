// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** A resource with a token bucket, which allows short bursts above the steady rate. */
@RequestScoped
@Path("bursty")
public class BurstyResource {
    @GET
    @Produces(MediaType.TEXT_PLAIN)
    @RateLimit("bursty")
    public String bursty() {
        return "One call of a burst\n";
    }
}
