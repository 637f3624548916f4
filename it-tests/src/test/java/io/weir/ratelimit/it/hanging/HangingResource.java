// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.hanging;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;

@RequestScoped
@Path("hanging")
public class HangingResource {
    @Inject
    private Hang hang;

    @GET
    public String ready() {
        return "ready";
    }

    @GET
    @Path("tier")
    @RateLimit("by-tier")
    public String tier() {
        return "tier";
    }

    @GET
    @Path("key")
    @RateLimit("by-key")
    public String key() {
        return "key";
    }

    @POST
    public void end() {
        hang.end();
    }
}
