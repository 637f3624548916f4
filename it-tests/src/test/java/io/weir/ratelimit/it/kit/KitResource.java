// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.kit;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

@Path("hello")
@RequestScoped
public class KitResource {
    @GET
    @RateLimit("hello")
    public String hello() {
        return "Hello";
    }
}
