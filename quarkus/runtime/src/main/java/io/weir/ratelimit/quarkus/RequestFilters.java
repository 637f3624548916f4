// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.RoutingContext;
import io.weir.ratelimit.interceptor.rest.ArrivalFilter;
import io.weir.ratelimit.interceptor.rest.EarlyFilter;
import io.weir.ratelimit.interceptor.rest.QuotaFilter;
import io.weir.ratelimit.interceptor.rest.RateLimitFilter;
import io.weir.ratelimit.interceptor.servlet.RequestProperties;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.core.MultivaluedMap;
import java.util.List;
import java.util.function.Supplier;
import org.jboss.resteasy.reactive.common.model.ResourceClass;
import org.jboss.resteasy.reactive.common.util.CaseInsensitiveMap;
import org.jboss.resteasy.reactive.server.core.ResteasyReactiveRequestContext;
import org.jboss.resteasy.reactive.server.model.HandlerChainCustomizer;
import org.jboss.resteasy.reactive.server.model.ServerResourceMethod;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveContainerRequestContext;
import org.jboss.resteasy.reactive.server.spi.ServerRestHandler;
import org.jspecify.annotations.Nullable;

/** The filters of requests. Quarkus calls those of a method that returns a {@code Uni} or {@code Multi} on the event loop. */
public final class RequestFilters {
    private RequestFilters() {}

    /** The first filter, which knows the connection of the request. */
    public static class Arrival extends ArrivalFilter {
        private final Quotas quotas = new Quotas();

        /** Creates a filter; for Quarkus. */
        public Arrival() {}

        @Override
        public void filter(ContainerRequestContext request) {
            ResteasyReactiveRequestContext server = (ResteasyReactiveRequestContext)
                    ((ResteasyReactiveContainerRequestContext) request).getServerRequestContext();
            RoutingContext route = server.unwrap(RoutingContext.class);
            // The base URI of the request begins with the prefix that a proxy, or a client, has forwarded.
            String prefix = server.getDeployment().getPrefix();
            request.setProperty(RequestProperties.BASE, belowRoot(prefix + "/", route.mountPoint()));
            SocketAddress peer = route.request().remoteAddress();
            if (peer != null && peer.hostAddress() != null) { // null for a Unix domain socket
                request.setProperty(RequestProperties.PEER_ADDRESS, peer.hostAddress());
            }
            Supplier<String> path = server::getPathWithoutPrefix;
            request.setProperty(RequestProperties.PATH, path);
            request.setProperty(RequestProperties.END, RequestEnd.of(route, request));
            route.addHeadersEndHandler(unused -> quotas.beforeHead(request, route.response()));
        }

        /** Returns a path without {@code quarkus.http.root-path}, which is the context root. Quarkus mounts its routes there. */
        private static String belowRoot(String path, @Nullable String mounted) {
            String root = mounted == null ? "" : mounted.replaceFirst("/$", "");
            return path.startsWith(root + "/") ? path.substring(root.length()) : path;
        }
    }

    /** The filter for policies with {@code phase=early}, before the match. */
    public static class Early extends EarlyFilter {
        /** Creates a filter; for Quarkus. */
        public Early() {}

        @Override
        public void filter(ContainerRequestContext request) {
            if (EventLoop.isCurrent()) {
                EventLoop.enter(request, threads -> enterAsync(request, threads), entry -> answer(entry, request));
            } else {
                super.filter(request);
            }
        }
    }

    /** The filter for policies with {@code phase=early}, after the match. */
    public static class MatchedEarly extends Early {
        /** Creates a filter; for Quarkus. */
        public MatchedEarly() {}
    }

    /** The filter for the policies of a matched resource method. */
    public static class Matched extends RateLimitFilter {
        /** Creates a filter; for Quarkus. */
        public Matched() {}

        @Override
        public void filter(ContainerRequestContext request) {
            if (EventLoop.isCurrent()) {
                EventLoop.enter(request, threads -> enterAsync(request, threads), entry -> answer(entry, request));
            } else {
                super.filter(request);
            }
        }
    }

    /** The caller of sub-resource locators, which Quarkus calls before all filters but those before the match. */
    public static class Locators implements HandlerChainCustomizer {
        /** Creates a customizer; for Quarkus. */
        public Locators() {}

        @Override
        public List<ServerRestHandler> handlers(Phase phase, ResourceClass resource, ServerResourceMethod method) {
            boolean isLocator = method.getHttpMethod() == null;
            return phase == Phase.BEFORE_METHOD_INVOKE && isLocator ? List.of(new Located()) : List.of();
        }
    }

    private static final class Located extends RateLimitFilter implements ServerRestHandler {
        @Override
        public void handle(ResteasyReactiveRequestContext server) {
            server.requireCDIRequestScope();
            locate(server.getContainerRequestContext());
        }
    }

    /** The filter of responses. Quarkus calls it for no streamed response. */
    public static class Quotas extends QuotaFilter {
        private static final String FILTERED = "io.weir.ratelimit.filtered";

        /** Creates a filter; for Quarkus. */
        public Quotas() {}

        @Override
        public void filter(ContainerRequestContext request, ContainerResponseContext response) {
            request.setProperty(FILTERED, true);
            super.filter(request, response);
        }

        /** Does the same for a response that has not passed the filter, before its head is sent. */
        void beforeHead(ContainerRequestContext request, HttpServerResponse response) {
            if (request.getProperty(FILTERED) != null) {
                return;
            }
            MultivaluedMap<String, Object> fields = new CaseInsensitiveMap<>();
            response.headers().forEach(field -> fields.add(field.getKey(), field.getValue()));
            leave(request, response.getStatusCode(), fields);
            fields.forEach((name, values) -> response.putHeader(
                    name, values.stream().map(String::valueOf).toList()));
        }
    }
}
