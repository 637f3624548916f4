// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

@Path("stereotyped")
@Limited
public class StereotypedResource {
    @GET
    public String get() {
        return "stereotyped";
    }
}
