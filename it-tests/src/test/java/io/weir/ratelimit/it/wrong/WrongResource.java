// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.wrong;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import io.weir.ratelimit.RateLimitKey;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;

@Path("wrong")
public class WrongResource {
    @GET
    @Path("unknown")
    @RateLimit("nowhere")
    public String unknownPolicy() {
        return "";
    }

    @GET
    @Path("in-place")
    @RateLimit(limit = "5/soon", key = "moon")
    public String inPlace() {
        return "";
    }

    @GET
    @Path("both")
    @RateLimit("sound")
    @RateLimitExempt
    public String both() {
        return "";
    }

    @GET
    @Path("overload")
    @RateLimit(limit = "5/1s", key = "ip")
    public String twice() {
        return "";
    }

    @GET
    @Path("overload/{a}")
    @RateLimit(limit = "6/1s", key = "ip")
    public String twice(@QueryParam("a") @RateLimitKey("a") String a) {
        return a;
    }
}
