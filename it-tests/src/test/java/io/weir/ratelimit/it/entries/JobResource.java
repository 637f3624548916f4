// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.entries;

import jakarta.batch.runtime.BatchRuntime;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import java.util.Properties;

/** Starts the job of {@link Steps}, starts it again where it has failed, and returns its state. */
@RequestScoped
@Path("job")
public class JobResource {
    @POST
    public long start() {
        return BatchRuntime.getJobOperator().start("orders", new Properties());
    }

    @POST
    @Path("{execution}")
    public long restart(@PathParam("execution") long execution) {
        return BatchRuntime.getJobOperator().restart(execution, new Properties());
    }

    @GET
    @Path("{execution}")
    public String status(@PathParam("execution") long execution) {
        return BatchRuntime.getJobOperator()
                .getJobExecution(execution)
                .getBatchStatus()
                .name();
    }
}
