// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.http;

import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;

@Provider
public class TeapotMapper implements ExceptionMapper<Teapot> {
    @Override
    public Response toResponse(Teapot exception) {
        return Response.status(418).type("text/plain").entity("short and stout").build();
    }
}
