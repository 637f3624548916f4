// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.outgoing;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Response;

/** The methods of several clients. */
public interface PartnerApi {
    @GET
    @Path("items")
    Response items(@HeaderParam("X-Account") String account);
}
