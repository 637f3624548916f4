// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** Not limited itself: the limit is on the bean that it calls. */
@Path("report")
public class ReportResource {
    @Inject
    private ReportService service;

    @GET
    @Produces(MediaType.APPLICATION_JSON)
    public ReportService.Report report() {
        return service.report();
    }
}
