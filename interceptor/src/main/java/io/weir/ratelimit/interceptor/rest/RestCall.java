// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.interceptor.key.Claims;
import io.weir.ratelimit.spi.CallContext;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.Cookie;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.SecurityContext;
import java.security.Principal;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who makes a request. Of the request only what a key asks for is read.
 *
 * @param request the request
 * @param peerAddress the address of the server's peer
 * @param user the authenticated user
 * @param method the method that is called
 */
record RestCall(
        ContainerRequestContext request,
        Optional<String> peerAddress,
        Optional<Principal> user,
        Optional<String> method)
        implements CallContext {
    @Override
    public Optional<String> principal() {
        return user.map(Principal::getName);
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
    public Optional<String> query(String name) {
        return first(request.getUriInfo().getQueryParameters(), name);
    }

    @Override
    public Optional<String> pathParameter(String name) {
        return first(request.getUriInfo().getPathParameters(), name);
    }

    @Override
    public Optional<String> claim(String name) {
        return user.flatMap(caller -> Claims.of(caller, name));
    }

    @Override
    public boolean isInRole(String role) {
        SecurityContext security = request.getSecurityContext();
        return security != null && security.isUserInRole(role);
    }

    @Override
    public Optional<Object> argument(String name) {
        return Optional.empty();
    }

    private static Optional<String> first(MultivaluedMap<String, String> values, String name) {
        @Nullable List<String> all = values.get(name);
        return all == null || all.isEmpty() ? Optional.empty() : Optional.ofNullable(all.get(0));
    }

    /** Names nobody. */
    @Override
    public String toString() {
        return "RestCall";
    }
}
