// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

@Path("class")
@RateLimit("class-level")
public class ClassLevelResource {
    @GET
    public String plain() {
        return "plain";
    }

    @GET
    @Path("method")
    @RateLimit("method-level")
    public String method() {
        return "method";
    }

    @Path("down")
    public PlainSubResource down() {
        return new PlainSubResource();
    }

    @GET
    @Path("exempt")
    @RateLimitExempt
    public String exempt() {
        return "exempt";
    }
}
