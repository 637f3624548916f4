// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;

@Path("entity")
public class EntityResource {
    @POST
    @RateLimit("entity")
    public String post(Recorded entity) {
        return "" + entity.text().length();
    }

    @GET
    @Path("read")
    public int read() {
        return RecordingReader.READ.get();
    }
}
