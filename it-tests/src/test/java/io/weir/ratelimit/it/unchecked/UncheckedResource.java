// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.unchecked;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

/** A resource without a scope, with one problem in each method. */
@Path("unchecked")
public class UncheckedResource {
    @GET
    @RateLimit("nowhere")
    public String missingPolicy() {
        return "unchecked";
    }

    @GET
    @Path("soon")
    @RateLimit(limit = "5/soon", key = "ip")
    public String invalidLimit() {
        return "soon";
    }

    @GET
    @Path("both")
    @RateLimit(limit = "3/1h", key = "ip")
    @RateLimitExempt
    public String both() {
        return "both";
    }

    @GET
    @Path("free")
    public String free() {
        return "free";
    }
}
