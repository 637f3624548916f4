// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Providers;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The application's exception mappers, which answer refusals of the filter as they answer those that a resource throws. */
final class OwnMappers {
    private OwnMappers() {}

    /** The application's answer to an exception of ours, empty if it has no mapper for just that class. */
    @SuppressWarnings("unchecked") // the class of an exception is one of its own type
    static <T extends Throwable> Optional<Response> response(@Nullable Providers providers, T exception) {
        ExceptionMapper<T> mapper =
                providers == null ? null : providers.getExceptionMapper((Class<T>) exception.getClass());
        return mapper == null || mapper instanceof ExceededMapper || mapper instanceof UnavailableMapper
                ? Optional.empty()
                : Optional.ofNullable(mapper.toResponse(exception));
    }
}
