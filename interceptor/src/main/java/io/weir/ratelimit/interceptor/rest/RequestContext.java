// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.interceptor.engine.RequestRecord;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.core.HttpHeaders;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a mapper can know of its request, by objects of the server's. They fail on a thread that serves no request, and a refusal
 * must be told there too.
 */
final class RequestContext {
    private RequestContext() {}

    /** What was decided about the request, which the filter keeps in a property: on a servlet, an attribute of its request. */
    static Optional<RequestRecord> record(@Nullable HttpServletRequest request) {
        try {
            return request != null && request.getAttribute(RateLimitFilter.RECORD) instanceof RequestRecord record
                    ? Optional.of(record)
                    : Optional.empty();
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    /** What the client takes. */
    static AcceptHeader accept(@Nullable HttpHeaders headers) {
        try {
            return AcceptHeader.parse(headers == null ? null : headers.getRequestHeader(HttpHeaders.ACCEPT));
        } catch (RuntimeException e) {
            return AcceptHeader.ANYTHING;
        }
    }
}
