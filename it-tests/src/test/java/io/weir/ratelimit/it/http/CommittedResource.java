// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.http;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** A resource that commits the response of its servlet. */
@Path("committed")
@RequestScoped
public class CommittedResource {
    /** Commits the response before the method returns. */
    @GET
    @RateLimit("twice")
    public void committed(@Context HttpServletResponse response) throws IOException {
        response.setContentType("text/plain");
        response.getOutputStream().write("committed".getBytes(StandardCharsets.UTF_8));
        response.flushBuffer();
    }

    /** Returns the fields about limits that were set on committed responses. */
    @GET
    @Path("late-fields")
    public String lateFields() {
        return String.join(" ", LateFieldsFilter.FIELDS);
    }
}
