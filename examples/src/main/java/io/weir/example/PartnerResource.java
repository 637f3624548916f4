// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** The upstream of {@link Partner}, which another company would run. */
@RequestScoped
@Path("partner")
public class PartnerResource {
    @GET
    @Path("offers/{product}")
    @Produces(MediaType.TEXT_PLAIN)
    public String offer(@PathParam("product") String product) {
        return "An offer for " + product + "\n";
    }
}
