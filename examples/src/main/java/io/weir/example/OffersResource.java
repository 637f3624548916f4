// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.client.RateLimitClientFilter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.net.URI;
import org.eclipse.microprofile.rest.client.RestClientBuilder;

/** A resource that calls a partner, with a limit on these outgoing calls. */
@RequestScoped
@Path("offers")
public class OffersResource {
    @GET
    @Path("{product}")
    @Produces(MediaType.TEXT_PLAIN)
    public Response offer(@PathParam("product") String product, @Context HttpServletRequest request)
            throws IOException {
        try (Partner partner =
                RestClientBuilder.newBuilder().baseUri(application(request)).build(Partner.class)) {
            return Response.ok(partner.offer(product)).build();
        } catch (RuntimeException e) {
            RateLimitExceededException rejection =
                    RateLimitClientFilter.rejection(e).orElseThrow(() -> e);
            return Response.status(Response.Status.SERVICE_UNAVAILABLE)
                    .header(
                            HttpHeaders.RETRY_AFTER,
                            1 + rejection.retryAfter().orElseThrow().toSeconds())
                    .entity("No offer now\n")
                    .build();
        }
    }

    /**
     * Returns the address of this application. An interface for another application is injected with {@code @RestClient}, and its address
     * is a property.
     */
    private static URI application(HttpServletRequest request) {
        return URI.create("http://localhost:" + request.getLocalPort() + request.getContextPath() + "/api");
    }
}
