// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.ear;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

/** A limited resource, and one that only a path rule can limit. */
@RequestScoped
@Path("")
public class EarResource {
    @GET
    @Path("hello")
    @RateLimit("hello")
    public String hello() {
        return "hello\n";
    }

    @GET
    @Path("ruled")
    public String ruled() {
        return "ruled\n";
    }
}
