// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.interceptor.user.AuthenticatedUser;
import io.weir.ratelimit.interceptor.user.UserCall;
import jakarta.enterprise.context.ContextNotActiveException;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The caller of an HTTP request that no Jakarta REST resource serves. */
public record ServletCall(HttpServletRequest http, Optional<String> peerAddress) implements UserCall {
    @Override
    public @Nullable AuthenticatedUser user() {
        return AuthenticatedUser.of(http.getUserPrincipal(), http::getAuthType);
    }

    @Override
    public Optional<String> header(String name) {
        return Optional.ofNullable(http.getHeader(name));
    }

    @Override
    public List<String> headerLines(String name) {
        Enumeration<String> lines = http.getHeaders(name);
        return lines == null ? List.of() : Collections.list(lines);
    }

    @Override
    public Optional<String> cookie(String name) {
        Cookie[] cookies = http.getCookies();
        return cookies == null
                ? Optional.empty()
                : Stream.of(cookies)
                        .filter(cookie -> cookie.getName().equals(name))
                        .findFirst()
                        .map(Cookie::getValue);
    }

    /** Reads the query string, because the parameters of a servlet request include the body of a form. */
    @Override
    public Optional<String> queryParameter(String name) {
        String query = http.getQueryString();
        if (query == null) {
            return Optional.empty();
        }
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            if (decoded(equals < 0 ? pair : pair.substring(0, equals)).equals(Optional.of(name))) {
                return equals < 0 ? Optional.of("") : decoded(pair.substring(equals + 1));
            }
        }
        return Optional.empty();
    }

    private static Optional<String> decoded(String text) {
        try {
            return Optional.of(URLDecoder.decode(text, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    @Override
    public boolean isInRole(String role) {
        return http.isUserInRole(role);
    }

    /** Lets the filter of requests find the state. A filter of Jakarta REST has attached that of its requests before. */
    @Override
    public boolean reportsEnd(RequestState request) {
        try {
            http.setAttribute(RequestProperties.STATE, request);
            return true;
        } catch (ContextNotActiveException | IllegalStateException e) { // the thread does not serve the request
            return false;
        }
    }

    /** Shows no data of the caller. */
    @Override
    public String toString() {
        return "ServletCall";
    }
}
