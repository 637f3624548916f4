// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

@Path("inherited")
public class InheritingResource extends LimitedBase {
    @GET
    public String get() {
        return "inherited";
    }
}
