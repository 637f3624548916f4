// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.outgoing;

import io.weir.ratelimit.client.OutgoingRateLimit;
import io.weir.ratelimit.client.RateLimitClientFilter;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import org.eclipse.microprofile.rest.client.annotation.RegisterProvider;

@RegisterProvider(RateLimitClientFilter.class)
@OutgoingRateLimit("retried")
@Path("partner")
public interface RetriedPartner extends AutoCloseable {
    @GET
    @Path("failing")
    String failing(@HeaderParam("X-Account") String account);
}
