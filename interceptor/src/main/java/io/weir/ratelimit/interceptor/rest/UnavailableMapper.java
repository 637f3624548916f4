// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.RateLimitUnavailableException;
import jakarta.annotation.Priority;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Maps a rejection by a failure mode as {@link ExceededMapper} maps one by a limit. */
@Priority(Integer.MAX_VALUE)
public class UnavailableMapper implements ExceptionMapper<RateLimitUnavailableException> {
    private final Supplier<RestContext> context = new RestContext.Late(() -> null);

    @Context
    private @Nullable HttpHeaders headers;

    @Override
    public Response toResponse(RateLimitUnavailableException exception) {
        return context.get().rejections().unavailable(exception.retryAfter(), AcceptHeader.of(headers));
    }
}
