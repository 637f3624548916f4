// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** A resource without a limit that calls a limited bean. */
@RequestScoped
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
