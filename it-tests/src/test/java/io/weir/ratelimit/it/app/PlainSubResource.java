// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.ws.rs.GET;

/** Not limited itself: the class of its locator is. */
public class PlainSubResource {
    @GET
    public String get() {
        return "plain sub";
    }
}
