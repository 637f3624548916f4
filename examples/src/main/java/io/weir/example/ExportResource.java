// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** An expensive resource: a call spends 50 permits of the policy {@code compute}. */
@RequestScoped
@Path("export")
public class ExportResource {
    @GET
    @Produces(MediaType.APPLICATION_JSON)
    @RateLimit(value = "compute", cost = 50)
    public Export export() {
        return new Export("csv", 1000);
    }

    /**
     * The result of an export.
     *
     * @param format the file format
     * @param rows the number of rows
     */
    public record Export(String format, int rows) {}
}
