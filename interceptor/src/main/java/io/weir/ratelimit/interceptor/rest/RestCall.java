// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.interceptor.cdi.MethodNames;
import io.weir.ratelimit.interceptor.servlet.RequestProperties;
import io.weir.ratelimit.interceptor.servlet.ServletAccess;
import io.weir.ratelimit.interceptor.user.AuthenticatedUser;
import io.weir.ratelimit.interceptor.user.UserCall;
import io.weir.ratelimit.runtime.HttpCall;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.Cookie;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.SecurityContext;
import jakarta.ws.rs.core.UriInfo;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A request of a REST resource. It reads only the parts of the request that a key or a path rule uses.
 *
 * <p>Jakarta REST has no API for the address of the peer. It comes from the servlet request, else from the property {@link
 * RequestProperties#PEER_ADDRESS}, else from the property that Helidon sets.
 */
final class RestCall implements HttpCall, UserCall {
    private static final String PEER_OF_HELIDON = "io.helidon.jaxrs.remote-host";

    private final ContainerRequestContext request;
    private final @Nullable ServletAccess servlet;
    private final @Nullable String peerAddress;
    private final @Nullable AuthenticatedUser user;
    private final @Nullable Supplier<MethodLimits.Name> method;
    private final boolean early;

    private RestCall(
            ContainerRequestContext request,
            @Nullable ServletAccess servlet,
            @Nullable AuthenticatedUser user,
            @Nullable Supplier<MethodLimits.Name> method,
            boolean early) {
        this.request = request;
        this.servlet = servlet;
        this.peerAddress = peerAddress(request, servlet);
        this.user = user;
        this.method = method;
        this.early = early;
    }

    /** A library can bring the Servlet API to a runtime without servlets. */
    private static @Nullable String peerAddress(ContainerRequestContext request, @Nullable ServletAccess servlet) {
        String peer = servlet == null ? null : servlet.peerAddress();
        if (peer != null) {
            return peer;
        }
        if (request.getProperty(RequestProperties.PEER_ADDRESS) instanceof String address) {
            return address;
        }
        return request.getProperty(PEER_OF_HELIDON) instanceof String address ? address : null;
    }

    /** Creates the call of a request before it is matched and its user is authenticated. */
    static RestCall early(ContainerRequestContext request, @Nullable ServletAccess servlet) {
        return new RestCall(request, servlet, null, null, true);
    }

    /** Creates the call of a request that is matched to a resource method. */
    static RestCall matched(
            ContainerRequestContext request, @Nullable ServletAccess servlet, ResourceInfo matched, MethodNames names) {
        return new RestCall(
                request,
                servlet,
                userOf(request),
                () -> names.of(matched.getResourceClass(), matched.getResourceMethod()),
                false);
    }

    /** Creates the call of a request at a sub-resource locator, before it is matched to a resource method. */
    static RestCall located(ContainerRequestContext request, @Nullable ServletAccess servlet) {
        return new RestCall(request, servlet, userOf(request), null, false);
    }

    private static @Nullable AuthenticatedUser userOf(ContainerRequestContext request) {
        SecurityContext security = request.getSecurityContext();
        return security == null
                ? null
                : AuthenticatedUser.of(security.getUserPrincipal(), security::getAuthenticationScheme);
    }

    /** Returns the user; a resource that logs the caller in does so after the filter. */
    @Override
    public @Nullable AuthenticatedUser user() {
        return user == null && !early ? userOf(request) : user;
    }

    /** Returns the call with the user that a later filter has authenticated; null if the user is the same. */
    @Nullable
    RestCall withLaterUser() {
        AuthenticatedUser now = userOf(request);
        return now == null || (user != null && now.name().equals(user.name()))
                ? null
                : new RestCall(request, servlet, now, method, early);
    }

    /** Returns the state that a filter has attached to a request, null if there is none. */
    static @Nullable RequestState stateOf(ContainerRequestContext request) {
        return request.getProperty(RequestProperties.STATE) instanceof RequestState state ? state : null;
    }

    @Override
    public @Nullable RequestState attachedState() {
        return stateOf(request);
    }

    @Override
    public void attach(RequestState state) {
        request.setProperty(RequestProperties.STATE, state);
    }

    @Override
    @SuppressWarnings("unchecked") // only the runtime sets the property
    public boolean reportsEnd(RequestState state) {
        Object end = request.getProperty(RequestProperties.END);
        return end == null || ((Predicate<RequestState>) end).test(state);
    }

    @Override
    public String httpMethod() {
        return request.getMethod();
    }

    /**
     * Returns the path as it is matched to a resource, below the base URI of the arrived request. The text of the request can differ:
     * Jersey removes the path of the application by its length, and finds {@code search} by {@code /api;search}.
     */
    @Override
    public String path() {
        UriInfo uri = request.getUriInfo();
        String base = request.getProperty(RequestProperties.BASE) instanceof String arrived
                ? arrived
                : uri.getBaseUri().getRawPath();
        String root = servlet == null ? "" : servlet.contextPath();
        String application = (base + "/").startsWith(root + "/") ? base.substring(root.length()) : base;
        String path = request.getProperty(RequestProperties.PATH) instanceof Supplier<?> encoded
                ? String.valueOf(encoded.get())
                : uri.getPath(false);
        return application + "/" + path;
    }

    @Override
    public boolean isPreflight() {
        return request.getMethod().equals(HttpMethod.OPTIONS)
                && request.getHeaderString("Origin") != null
                && request.getHeaderString("Access-Control-Request-Method") != null;
    }

    @Override
    public Optional<String> peerAddress() {
        return Optional.ofNullable(peerAddress);
    }

    @Override
    public Optional<String> method() {
        return method == null ? Optional.empty() : Optional.of(method.get().text());
    }

    @Override
    public Optional<String> header(String name) {
        return first(request.getHeaders(), name);
    }

    @Override
    public List<String> headerLines(String name) {
        List<String> lines = request.getHeaders().get(name);
        return lines == null ? List.of() : lines;
    }

    @Override
    public Optional<String> cookie(String name) {
        return Optional.ofNullable(request.getCookies().get(name)).map(Cookie::getValue);
    }

    @Override
    public Optional<String> queryParameter(String name) {
        return first(request.getUriInfo().getQueryParameters(), name);
    }

    @Override
    public Optional<String> pathParameter(String name) {
        return first(request.getUriInfo().getPathParameters(), name);
    }

    /** Without a user, there is no role. Quarkus would authenticate the request for the answer, which can block. */
    @Override
    public boolean isInRole(String role) {
        SecurityContext security = request.getSecurityContext();
        return security != null && security.getUserPrincipal() != null && security.isUserInRole(role);
    }

    private static Optional<String> first(MultivaluedMap<String, String> values, String name) {
        @Nullable List<String> all = values.get(name);
        return all == null || all.isEmpty() ? Optional.empty() : Optional.ofNullable(all.get(0));
    }

    /** Shows no data of the client. */
    @Override
    public String toString() {
        return "RestCall";
    }
}
