// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.listed;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;

/** A resource of both applications. */
@Path("listed")
@RequestScoped
@Produces("text/plain")
public class ListedResource {
    @GET
    @Path("annotated")
    @RateLimit("annotated")
    public String annotated() {
        return "annotated";
    }

    @GET
    @Path("ruled")
    public String ruled() {
        return "ruled";
    }

    /** Returns the lines that the library has logged since the start. */
    @GET
    @Path("log")
    public String log() {
        return String.join("\n", LogKeeper.LINES);
    }
}
