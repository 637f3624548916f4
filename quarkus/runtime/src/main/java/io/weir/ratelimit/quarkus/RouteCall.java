// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.netty.handler.codec.http.QueryStringDecoder;
import io.quarkus.security.identity.SecurityIdentity;
import io.vertx.core.http.Cookie;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import io.weir.ratelimit.interceptor.user.AuthenticatedUser;
import io.weir.ratelimit.interceptor.user.UserCall;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The caller of a request that no Jakarta REST resource serves.
 *
 * @param identity the identity of the caller, null if it is not known
 */
record RouteCall(HttpServerRequest http, @Nullable SecurityIdentity identity) implements UserCall {
    @Override
    public Optional<String> peerAddress() {
        return Optional.ofNullable(http.remoteAddress()).map(SocketAddress::hostAddress);
    }

    @Override
    public @Nullable AuthenticatedUser user() {
        return identity == null || identity.isAnonymous()
                ? null
                : AuthenticatedUser.of(identity.getPrincipal(), () -> "Quarkus");
    }

    @Override
    public boolean isInRole(String role) {
        return identity != null && identity.hasRole(role);
    }

    @Override
    public Optional<String> header(String name) {
        return headerLines(name).stream().findFirst();
    }

    /** A request of HTTP/2 has an authority in place of its host. */
    @Override
    public List<String> headerLines(String name) {
        List<String> lines = http.headers().getAll(name);
        return lines.isEmpty() && name.equalsIgnoreCase("Host") && http.authority() != null
                ? List.of(http.authority().toString())
                : lines;
    }

    @Override
    public Optional<String> cookie(String name) {
        return Optional.ofNullable(http.getCookie(name)).map(Cookie::getValue);
    }

    @Override
    public Optional<String> queryParameter(String name) {
        try {
            return new QueryStringDecoder(http.uri())
                    .parameters().getOrDefault(name, List.of()).stream().findFirst();
        } catch (IllegalArgumentException e) { // not decodable
            return Optional.empty();
        }
    }

    /** Shows no data of the caller. */
    @Override
    public String toString() {
        return "RouteCall";
    }
}
