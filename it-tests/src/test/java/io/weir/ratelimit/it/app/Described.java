// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;

/** A resource's contract, with the limit as part of it. */
public interface Described {
    @GET
    @RateLimit("described")
    String get();
}
