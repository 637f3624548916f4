// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.plain;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

/** A resource without a scope, which is not a bean on every server. */
@Path("plain")
public class PlainResource {
    @GET
    @RateLimit(limit = "3/1h", key = "ip")
    public String get() {
        return "plain";
    }
}
