// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.client.OutgoingRateLimit;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.io.Closeable;

/**
 * A REST client whose calls the client {@code partner} of the configuration limits. {@link PartnerResource} is its upstream. A path of the
 * interface would make it a resource on servers with Jersey.
 */
@OutgoingRateLimit("partner")
public interface Partner extends Closeable {
    @GET
    @Path("partner/offers/{product}")
    @Produces(MediaType.TEXT_PLAIN)
    String offer(@PathParam("product") String product);
}
