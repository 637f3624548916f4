// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;

@Provider
public class MappedMapper implements ExceptionMapper<Mapped> {
    @Override
    public Response toResponse(Mapped exception) {
        return Response.status(422).build();
    }
}
