// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.interceptor.cdi.RateLimitRuntime;
import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.RequestRecord;
import jakarta.annotation.Priority;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.Response;
import java.lang.System.Logger.Level;
import java.security.Principal;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides about requests before their resource method, and tells the client its quotas.
 *
 * <p>Runs after every server has authenticated and authorized: Open Liberty authenticates resources with {@code @RolesAllowed} in
 * a filter at {@code AUTHORIZATION + 1}, and an earlier filter would see no user and limit by address unnoticed. Requests that
 * the server answers 401 or 403 never get here, and are not charged.
 */
@Priority(Priorities.AUTHORIZATION + 100)
public class RateLimitFilter implements ContainerRequestFilter, ContainerResponseFilter {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");
    static final String RECORD = RequestRecord.class.getName();

    private final Set<String> missed = ConcurrentHashMap.newKeySet();

    @Context
    private @Nullable ResourceInfo resource;

    @Context
    private @Nullable HttpServletRequest servletRequest;

    private volatile @Nullable Deployed deployed;

    @Override
    public void filter(ContainerRequestContext request) {
        ResourceInfo called = resource;
        if (called == null || called.getResourceMethod() == null) {
            return;
        }
        Deployed deployment = deployed();
        RateLimitRuntime runtime = deployment.runtime();
        RequestRecord record = runtime.start(caller(request, called));
        request.setProperty(RECORD, record);
        Binding binding = runtime.binding(called.getResourceClass(), called.getResourceMethod());
        if (binding.policies().isEmpty()) {
            return;
        }
        if (binding.needsArguments()) {
            record.leave(binding);
            return;
        }
        Decision decision = runtime.engine().decide(binding, record.call(), record);
        if (decision instanceof Decision.Rejected rejected) {
            request.abortWith(Refusals.exceeded(rejected, deployment.dialects(), nowSeconds()));
        } else if (!decision.allowed()) {
            request.abortWith(Refusals.unavailable());
        } else if (!runtime.spans().isSpanHere()) {
            request.setProperty(SpanFilter.UNMARKED, runtime.spans());
        }
    }

    private RestCall caller(ContainerRequestContext request, ResourceInfo called) {
        Principal user = request.getSecurityContext() == null
                ? null
                : request.getSecurityContext().getUserPrincipal();
        HttpServletRequest servlet = servletRequest;
        return new RestCall(
                request,
                Optional.ofNullable(servlet).map(HttpServletRequest::getRemoteAddr),
                Optional.ofNullable(user),
                Optional.of(called.getResourceClass().getSimpleName() + "."
                        + called.getResourceMethod().getName()));
    }

    @Override
    public void filter(ContainerRequestContext request, ContainerResponseContext response) {
        if (!(request.getProperty(RECORD) instanceof RequestRecord record)) {
            return;
        }
        // An error answer can mean that the method was never called, for instance because an argument did not convert.
        if (response.getStatus() < 400) {
            record.pending().ifPresent(this::warnMissed);
        }
        // An outage that came after a decision of this request is no quota either.
        if (response.getStatus() == Response.Status.SERVICE_UNAVAILABLE.getStatusCode()) {
            return;
        }
        if (record.last().filter(Decision.Degraded.class::isInstance).isPresent()
                || record.quotas().isEmpty()) {
            return;
        }
        QuotaView view = QuotaView.admitted(record.quotas(), nowSeconds());
        for (HeaderDialect dialect : deployed().dialects()) {
            if (!response.getHeaders().containsKey(dialect.mark())) {
                dialect.write(view, (field, value) -> response.getHeaders().putSingle(field, value));
            }
        }
    }

    private void warnMissed(Binding binding) {
        if (missed.add(binding.endpoint())) {
            LOG.log(
                    Level.WARNING,
                    "WEIR-304 {0} ran unlimited: its key needs an argument, and no interceptor was called because its class is no "
                            + "bean or the method is private or final; said once",
                    binding.endpoint());
        }
    }

    private Deployed deployed() {
        Deployed known = deployed;
        if (known == null) {
            known = Deployed.find();
            deployed = known;
        }
        return known;
    }

    private static long nowSeconds() {
        return System.currentTimeMillis() / 1_000;
    }
}
