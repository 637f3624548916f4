// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.response.QuotaView;
import io.weir.ratelimit.interceptor.servlet.ServletAccess;
import io.weir.ratelimit.runtime.RateLimitGate;
import io.weir.ratelimit.spi.DecisionEvent;
import jakarta.annotation.Priority;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Providers;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Maps a rejection that a resource throws to the response of the filter. A mapper of the application for the class precedes this one. */
@Priority(Integer.MAX_VALUE)
public class ExceededMapper implements ExceptionMapper<RateLimitExceededException> {
    private final Supplier<RestContext> context = new RestContext.Late(() -> this.providers);

    @Context
    private @Nullable HttpHeaders headers;

    @Context
    private @Nullable Providers providers;

    @Override
    public Response toResponse(RateLimitExceededException exception) {
        RestContext rest = context.get();
        Optional<RequestState> request = state(rest);
        boolean minimal = rest.rejections().isMinimal(exception.decision());
        if (minimal) {
            // The state does not know a decision that application code has requested.
            request.ifPresent(state -> state.quotas().hide());
        }
        String endpoint = request.flatMap(state -> state.quotas().lastEvent())
                .filter(event -> event.decision().equals(exception.decision()))
                .map(DecisionEvent::endpoint)
                .orElse("");
        boolean hidden =
                minimal || request.filter(state -> state.quotas().areHidden()).isPresent();
        Response response = rest.rejections()
                .exceeded(
                        exception.decision(),
                        new RejectionResponses.Context(endpoint, hidden, AcceptHeader.of(headers)));
        if (!hidden) {
            RateLimitGate gate = rest.gate();
            // The instant of a decision that application code has requested is not known.
            long elapsedNanos = request.map(RequestState::quotas)
                    .filter(quotas ->
                            quotas.last().filter(exception.decision()::equals).isPresent())
                    .map(quotas -> gate.nanosSince(quotas.atNanos()))
                    .orElse(0L);
            long atMicros = QuotaView.epochMicros(elapsedNanos, gate.now());
            rest.fields().write(QuotaView.rejected(exception.decision(), atMicros), response.getHeaders());
        }
        return response;
    }

    private static Optional<RequestState> state(RestContext rest) {
        try {
            ServletAccess servlet = rest.servlet();
            return servlet == null ? rest.gate().current() : servlet.attachedState();
        } catch (RuntimeException e) { // the server's object fails on a thread that serves no request
            return Optional.empty();
        }
    }
}
