// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;

/** No bean: its policy is only known when it is first called. */
public class InPlaceSubResource {
    @GET
    @RateLimit(limit = "1/1h", key = "header:X-Client")
    public String get() {
        return "in place";
    }
}
