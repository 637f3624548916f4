// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;

/** An interface of a resource with a limit. */
public interface Described {
    @GET
    @RateLimit("described")
    String get();
}
