// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

/** A resource that the tests of the development mode change. It is no member of a test, because it is compiled alone. */
@Path("hello")
public class HelloResource {
    @GET
    @RateLimit("hello")
    public String hello() {
        return "Hello";
    }
}
