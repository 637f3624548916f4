// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** The dearest call: fifty permits of the budget {@code compute}. */
@Path("export")
public class ExportResource {
    @GET
    @Produces(MediaType.APPLICATION_JSON)
    @RateLimit(value = "compute", cost = 50)
    public Export export() {
        return new Export("csv", 1000);
    }

    /** What was exported. */
    public record Export(String format, int rows) {}
}
