// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;

/** A resource with a limit on calls that run at once. */
@RequestScoped
@Path("slow")
public class SlowResource {
    private static final long MAX_MILLIS = 10_000;

    @GET
    @Produces(MediaType.TEXT_PLAIN)
    @RateLimit("slow")
    public String slow(@QueryParam("ms") long millis) throws InterruptedException {
        Thread.sleep(Math.max(0, Math.min(millis, MAX_MILLIS)));
        return "A slow answer\n";
    }
}
