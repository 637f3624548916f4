// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.weir.ratelimit.client.CallSuspension;
import io.weir.ratelimit.client.outgoing.AnnotatedClients;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.ws.rs.ProcessingException;
import jakarta.ws.rs.client.ClientRequestContext;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jboss.resteasy.reactive.client.impl.ClientRequestContextImpl;
import org.jboss.resteasy.reactive.client.spi.ResteasyReactiveClientRequestContext;

/** The beans for outgoing calls, in an application with REST clients of Quarkus and the module that limits them. */
@Singleton
public class ClientBeans {
    static AnnotatedClients annotated(Map<String, String> types) {
        return () -> types;
    }

    /** Produces the suspension of calls on event loops. */
    @Produces
    @Singleton
    public CallSuspension suspension() {
        return ClientBeans::suspend;
    }

    private static boolean suspend(
            ClientRequestContext request, Function<Executor, CompletionStage<Runnable>> decision) {
        if (!EventLoop.isCurrent() || !(request instanceof ResteasyReactiveClientRequestContext call)) {
            return false;
        }
        Context loop = Objects.requireNonNull(Vertx.currentContext(), "an event loop has a context of Vert.x");
        CompletionStage<Runnable> decided = decision.apply(CallThreads.ofCall());
        call.suspend();
        decided.whenComplete((abandon, failure) -> loop.runOnContext(unused -> {
            if (failure != null) {
                fail(call, failure);
            } else if (isCanceled(call)) {
                // Quarkus would take a connection for the call, and not give it back.
                abandon.run();
                call.resume(new CancellationException("canceled during the wait for permits"));
            } else {
                call.resume();
            }
        }));
        return true;
    }

    private static boolean isCanceled(ResteasyReactiveClientRequestContext call) {
        return call instanceof ClientRequestContextImpl context
                && context.getRestClientRequestContext().isUserCanceled();
    }

    /** Fails a call as a filter that has thrown the cause. */
    private static void fail(ResteasyReactiveClientRequestContext call, Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        call.resume(new ProcessingException(cause.getMessage(), cause));
    }
}
