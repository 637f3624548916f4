// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;

/** A sub-resource that is created by {@code new}, so that no interceptor is called. */
public class SubResource {
    @GET
    @RateLimit("sub")
    public String get() {
        return "sub";
    }
}
