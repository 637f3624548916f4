// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.interceptor.cdi.RateLimitRuntime;
import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.RequestRecord;
import io.weir.ratelimit.interceptor.policy.RequestPath;
import jakarta.annotation.Priority;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.Configuration;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.UriInfo;
import jakarta.ws.rs.ext.Providers;
import java.security.Principal;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides about requests before their resource method.
 *
 * <p>Runs after every server has authenticated and authorized: Open Liberty authenticates resources with {@code @RolesAllowed} in
 * a filter at {@code AUTHORIZATION + 1}, and an earlier filter would see no user and limit by address unnoticed. Requests that
 * the server answers 401 or 403 never get here, and are not charged.
 */
@Priority(Priorities.AUTHORIZATION + 100)
public class RateLimitFilter implements ContainerRequestFilter {
    static final String RECORD = RequestRecord.class.getName();

    private final LazyDeployed deployed = new LazyDeployed();
    private final OwnMappers mappers = new OwnMappers(() -> this.providers, () -> this.configuration);

    @Context
    private @Nullable Providers providers;

    @Context
    private @Nullable Configuration configuration;

    @Context
    private @Nullable ResourceInfo resource;

    @Context
    private @Nullable HttpServletRequest servletRequest;

    @Override
    public void filter(ContainerRequestContext request) {
        ResourceInfo called = resource;
        if (called == null || called.getResourceMethod() == null) {
            return;
        }
        Deployed deployment = deployed.get();
        RateLimitRuntime runtime = deployment.runtime();
        RequestRecord record = record(request, runtime, called);
        Binding own = runtime.binding(called.getResourceClass(), called.getResourceMethod());
        Binding binding = Cors.isPreflight(request)
                ? Binding.EXEMPT
                : runtime.joined(own, request.getMethod(), () -> path(request, servletRequest));
        record.handle(own, binding);
        if (binding.policies().isEmpty() || runtime.bypasses(record, binding)) {
            return;
        }
        if (binding.needsArguments()) {
            record.leave(binding);
            return;
        }
        decide(request, deployment, binding, record, mappers);
    }

    private RequestRecord record(ContainerRequestContext request, RateLimitRuntime runtime, ResourceInfo called) {
        RestCall caller = caller(request, called);
        if (request.getProperty(RECORD) instanceof RequestRecord early) {
            early.calledBy(caller);
            return early;
        }
        RequestRecord first = runtime.start(caller);
        request.setProperty(RECORD, first);
        return first;
    }

    /** Decides, and refuses the request if it may not go on. */
    static void decide(
            ContainerRequestContext request,
            Deployed deployment,
            Binding binding,
            RequestRecord record,
            OwnMappers mappers) {
        RateLimitRuntime runtime = deployment.runtime();
        Decision decision = runtime.engine().decide(binding, record.call(), record);
        runtime.settleLater(binding, decision, record);
        if (!decision.allowed()) {
            request.abortWith(deployment.refusals().answer(decision, record, request.getHeaders(), mappers));
        } else if (!runtime.spans().isSpanHere()) {
            request.setProperty(SpanFilter.UNMARKED, runtime.spans());
        }
    }

    /**
     * The path below the context root, as it is matched to a resource. The request's own text can differ: Jersey cuts the
     * application's path off by its length, and finds {@code search} by {@code /api;search}.
     */
    static RequestPath path(ContainerRequestContext request, @Nullable HttpServletRequest servlet) {
        UriInfo uri = request.getUriInfo();
        String base = uri.getBaseUri().getRawPath();
        String root = servlet == null ? "" : servlet.getContextPath();
        String application = base.startsWith(root) ? base.substring(root.length()) : base;
        return RequestPath.of(application + "/" + uri.getPath(false));
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
}
