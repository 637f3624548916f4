// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.vertx.core.net.impl.ConnectionBase;
import io.vertx.ext.web.RoutingContext;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.interceptor.servlet.RequestProperties;
import jakarta.ws.rs.container.ContainerRequestContext;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The end of a request: its response, or its connection. Vert.x reports no end of a response whose first write fails because the client has
 * left, so the connection itself is observed.
 *
 * <p>As a predicate, it lets a request end here, and returns whether it has not ended yet.
 */
final class RequestEnd implements Predicate<RequestState>, ChannelFutureListener {
    private final ContainerRequestContext request;
    private volatile @Nullable RequestState state;
    private volatile boolean ended;

    private RequestEnd(ContainerRequestContext request) {
        this.request = request;
    }

    /** Observes the end of a request. The calling thread is the event loop of its connection. */
    static RequestEnd of(RoutingContext route, ContainerRequestContext request) {
        RequestEnd end = new RequestEnd(request);
        if (route.request().connection() instanceof ConnectionBase connection) {
            ChannelFuture closed = connection.channel().closeFuture();
            ChannelFuture observed = closed.addListener(end);
            route.addEndHandler(response -> {
                ChannelFuture unused = observed.removeListener(end);
            });
        }
        route.addEndHandler(response -> end.end());
        return end;
    }

    @Override
    public boolean test(RequestState holding) {
        holding.awaitEnd();
        state = holding;
        return !ended;
    }

    @Override
    public void operationComplete(ChannelFuture closed) {
        end();
    }

    private void end() {
        ended = true;
        RequestState known = state;
        if (known == null && request.getProperty(RequestProperties.STATE) instanceof RequestState attached) {
            known = attached;
        }
        if (known != null) {
            known.endWait();
            known.end();
        }
    }
}
