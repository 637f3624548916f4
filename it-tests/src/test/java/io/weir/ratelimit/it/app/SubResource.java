// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;

/** Made by {@code new}, so that no interceptor sees its calls. */
public class SubResource {
    @GET
    @RateLimit("sub")
    public String get() {
        return "sub";
    }
}
