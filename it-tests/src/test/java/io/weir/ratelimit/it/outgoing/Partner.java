// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.outgoing;

import io.weir.ratelimit.client.OutgoingRateLimit;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Response;
import java.util.concurrent.CompletionStage;
import org.eclipse.microprofile.rest.client.inject.RegisterRestClient;

@RegisterRestClient(baseUri = "http://localhost:1")
@OutgoingRateLimit("partner")
@Path("partner")
public interface Partner extends AutoCloseable {
    @GET
    @Path("items")
    Response items(@HeaderParam("X-Account") String account);

    @GET
    @Path("items")
    CompletionStage<Response> itemsLater(@HeaderParam("X-Account") String account);
}
