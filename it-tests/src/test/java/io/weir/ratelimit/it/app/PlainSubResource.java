// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.ws.rs.GET;

/** A sub-resource without a limit; the class of its locator has one. */
public class PlainSubResource {
    @GET
    public String get() {
        return "plain sub";
    }
}
