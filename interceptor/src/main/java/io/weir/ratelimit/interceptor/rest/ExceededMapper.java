// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.interceptor.engine.RequestRecord;
import io.weir.ratelimit.spi.DecisionEvent;
import jakarta.annotation.Priority;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Gives a refusal that leaves a resource the same answer as one of the filter's. A mapper of the application's for the same class comes first. */
@Priority(Integer.MAX_VALUE)
public class ExceededMapper implements ExceptionMapper<RateLimitExceededException> {
    private final LazyDeployed deployed = new LazyDeployed();

    @Context
    private @Nullable HttpHeaders headers;

    @Context
    private @Nullable HttpServletRequest servletRequest;

    @Override
    public Response toResponse(RateLimitExceededException exception) {
        Deployed deployment = deployed.get();
        Optional<RequestRecord> record = RequestContext.record(servletRequest);
        boolean minimal = deployment.refusals().isMinimal(exception.decision());
        // Where code decided, the record knows nothing of it.
        if (minimal) {
            record.ifPresent(RequestRecord::hideQuotas);
        }
        String endpoint = record.flatMap(RequestRecord::lastEvent)
                .filter(event -> event.decision().equals(exception.decision()))
                .map(DecisionEvent::endpoint)
                .orElse("");
        boolean hidden = minimal || record.filter(RequestRecord::hidesQuotas).isPresent();
        Response response = deployment
                .refusals()
                .exceeded(exception.decision(), new RefusedRequest(endpoint, hidden, RequestContext.accept(headers)));
        if (!hidden) {
            deployment.fields().write(QuotaView.refused(exception.decision(), QuotaView.now()), response.getHeaders());
        }
        return response;
    }
}
