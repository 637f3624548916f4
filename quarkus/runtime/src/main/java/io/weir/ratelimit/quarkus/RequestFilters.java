// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.RoutingContext;
import io.weir.ratelimit.interceptor.rest.ArrivalFilter;
import io.weir.ratelimit.interceptor.rest.EarlyFilter;
import io.weir.ratelimit.interceptor.rest.RateLimitFilter;
import io.weir.ratelimit.interceptor.servlet.RequestProperties;
import jakarta.ws.rs.container.ContainerRequestContext;
import java.util.function.Supplier;
import org.jboss.resteasy.reactive.server.core.ResteasyReactiveRequestContext;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveContainerRequestContext;

/** The filters of requests. Quarkus calls those of a method that returns a {@code Uni} or {@code Multi} on the event loop. */
public final class RequestFilters {
    private RequestFilters() {}

    /** The first filter, which knows the connection of the request. */
    public static class Arrival extends ArrivalFilter {
        /** Creates a filter; for Quarkus. */
        public Arrival() {}

        @Override
        public void filter(ContainerRequestContext request) {
            super.filter(request);
            ResteasyReactiveRequestContext server = (ResteasyReactiveRequestContext)
                    ((ResteasyReactiveContainerRequestContext) request).getServerRequestContext();
            RoutingContext route = server.unwrap(RoutingContext.class);
            SocketAddress peer = route.request().remoteAddress();
            if (peer != null && peer.hostAddress() != null) { // null for a Unix domain socket
                request.setProperty(RequestProperties.PEER_ADDRESS, peer.hostAddress());
            }
            Supplier<String> path = server::getPathWithoutPrefix;
            request.setProperty(RequestProperties.PATH, path);
            request.setProperty(RequestProperties.END, RequestEnd.of(route, request));
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
}
