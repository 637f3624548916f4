// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;

/** A sub-resource that is not a bean. Its inline policy is found at the first call. */
public class InlineSubResource {
    @GET
    @RateLimit(limit = "1/1h", key = "header:X-Client")
    public String get() {
        return "in place";
    }
}
