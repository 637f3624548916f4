// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.outgoing;

import io.weir.ratelimit.client.OutgoingRateLimit;
import jakarta.ws.rs.Path;
import org.eclipse.microprofile.rest.client.inject.RegisterRestClient;

/** An annotated interface that inherits its methods. */
@RegisterRestClient(baseUri = "http://localhost:1")
@OutgoingRateLimit("partner")
@Path("partner")
public interface InheritedPartner extends PartnerApi, AutoCloseable {}
