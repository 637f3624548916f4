// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.quarkus.security.AuthenticationException;
import io.quarkus.security.identity.SecurityIdentity;
import io.quarkus.vertx.http.runtime.security.HttpAuthenticator;
import io.quarkus.vertx.http.runtime.security.QuarkusHttpUser;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import io.weir.ratelimit.runtime.HttpResource;
import io.weir.ratelimit.spi.CallContext;
import java.util.Arrays;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The route of a resource of Weir. A worker thread answers its requests.
 *
 * @param resource looks up the resource, which exists after the start
 */
record ResourceRoute(Supplier<HttpResource> resource) implements Handler<RoutingContext> {
    /** The part of a body that is kept. No resource reads as much. */
    private static final int MAX_BODY = 16 * 1024;

    @Override
    public void handle(RoutingContext route) {
        HttpServerRequest request = route.request();
        if (request.isEnded()) { // a handler before this one has read the body
            answer(route, route.body() == null ? null : route.body().buffer());
            return;
        }
        Buffer body = Buffer.buffer();
        request.handler(part -> {
            if (body.length() < MAX_BODY) {
                body.appendBuffer(part);
            }
        });
        request.endHandler(end -> answer(route, body));
    }

    private void answer(RoutingContext route, @Nullable Buffer body) {
        Request request = new Request(route, body == null ? new byte[0] : body.getBytes());
        route.vertx()
                .executeBlocking(() -> resource.get().answer(request), false)
                .onSuccess(answer -> answer.ifPresentOrElse(given -> send(given, route), () -> end(route.response())))
                .onFailure(route::fail);
    }

    private static void send(HttpResource.Answer answer, RoutingContext route) {
        if (answer.isError()) {
            route.fail(answer.status());
            return;
        }
        HttpServerResponse response = route.response().setStatusCode(answer.status());
        answer.headers().forEach(response::putHeader);
        Buffer body = Buffer.buffer(answer.body());
        if (body.length() == 0) {
            response.end();
        } else if (route.request().method().equals(HttpMethod.HEAD)) {
            response.putHeader("Content-Length", Integer.toString(body.length()));
            response.end();
        } else {
            response.end(body);
        }
    }

    private static void end(HttpServerResponse response) {
        if (!response.ended()) {
            response.end();
        }
    }

    private static final class Request implements HttpResource.Request {
        private final RoutingContext route;
        private final byte[] body;
        private @Nullable SecurityIdentity identity;

        Request(RoutingContext route, byte[] body) {
            this.route = route;
            this.body = body;
            this.identity = route.user() instanceof QuarkusHttpUser user ? user.getSecurityIdentity() : null;
        }

        @Override
        public CallContext caller() {
            return new RouteCall(route.request(), identity);
        }

        /** Finds also a user with a cookie or a client certificate, if authentication is not proactive: they have no password to guess. */
        @Override
        public boolean hasUser() {
            MultiMap headers = route.request().headers();
            if (identity == null
                    && !headers.contains("Authorization")
                    && (headers.contains("Cookie") || route.request().isSSL())) {
                authenticate();
            }
            return isUser();
        }

        private boolean isUser() {
            return identity != null && !identity.isAnonymous();
        }

        @Override
        public String method() {
            return route.request().method().name();
        }

        /** The wildcard of the route is the rest of the path, without the slash by which the paths of a page are relative. */
        @Override
        public String path() {
            String wildcard = route.pathParam("*");
            String rest = wildcard == null ? "" : wildcard.replaceFirst("^/", "");
            return rest.isEmpty() && !route.normalizedPath().endsWith("/") ? "" : "/" + rest;
        }

        @Override
        public byte[] body(int limit) {
            return body.length <= limit ? body : Arrays.copyOf(body, limit);
        }

        /** Waits for the identity, which Quarkus determines only now if its authentication is not proactive. */
        @Override
        public HttpResource.Login login() {
            HttpAuthenticator authenticator = authenticate();
            if (authenticator == null) {
                return HttpResource.Login.UNAVAILABLE;
            }
            if (isUser()) {
                return HttpResource.Login.SUCCEEDED;
            }
            boolean unused = authenticator.sendChallenge(route).await().indefinitely();
            return HttpResource.Login.ANSWERED;
        }

        /** Determines the identity, and returns what has done it; null if the application has no authentication. */
        private @Nullable HttpAuthenticator authenticate() {
            HttpAuthenticator authenticator = route.get(HttpAuthenticator.class.getName());
            if (authenticator != null) {
                // Quarkus would answer invalid credentials at once, while this thread answers the request.
                BiConsumer<RoutingContext, Throwable> none = (context, failure) -> {};
                route.put(QuarkusHttpUser.AUTH_FAILURE_HANDLER, none);
                try {
                    identity = QuarkusHttpUser.getSecurityIdentityBlocking(route, null);
                } catch (RuntimeException e) {
                    if (!(e instanceof AuthenticationException)) {
                        throw e;
                    }
                    identity = null; // a challenge answers it
                }
            }
            return authenticator;
        }
    }
}
