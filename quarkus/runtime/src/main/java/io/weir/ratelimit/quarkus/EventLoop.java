// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.quarkus.runtime.BlockingOperationControl;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.runtime.LaterEntry;
import jakarta.ws.rs.container.ContainerRequestContext;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveContainerRequestContext;
import org.jspecify.annotations.Nullable;

/** The event loop of a request, which continues the request after a decision. */
final class EventLoop {
    private EventLoop() {}

    /** Tests whether the calling thread must not block. */
    static boolean isCurrent() {
        return !BlockingOperationControl.isBlockingAllowed();
    }

    /** Returns an executor for the event loop of the calling thread, or for threads that can block if it is one without a context. */
    static Executor current() {
        Context loop = Vertx.currentContext();
        return loop == null ? CallThreads.ofCall() : task -> loop.runOnContext(unused -> task.run());
    }

    /**
     * Lets a request enter the gate. A request that has to wait is suspended meanwhile.
     *
     * @param enter enters with the threads that can block
     * @param answer answers the request, on its event loop
     */
    static void enter(ContainerRequestContext request, Function<Executor, LaterEntry> enter, Consumer<Entry> answer) {
        Context loop = Objects.requireNonNull(Vertx.currentContext(), "a request has a context of Vert.x");
        LaterEntry later = enter.apply(CallThreads.ofCall());
        if (later.isDecided()) {
            answer.accept(later.entry());
            return;
        }
        ResteasyReactiveContainerRequestContext suspended = (ResteasyReactiveContainerRequestContext) request;
        suspended.suspend();
        CompletionStage<?> decision = later.decision();
        decision.whenComplete(
                (decided, failure) -> loop.runOnContext(unused -> resume(suspended, later, failure, answer)));
    }

    private static void resume(
            ResteasyReactiveContainerRequestContext request,
            LaterEntry later,
            @Nullable Throwable failure,
            Consumer<Entry> answer) {
        if (failure != null) {
            request.resume(failure);
            return;
        }
        try {
            Entry entry = later.entry();
            answer.accept(entry);
            if (entry.decision().allowed()) { // a rejection has resumed the request
                request.resume();
            }
        } catch (RuntimeException | Error e) {
            request.resume(e);
        }
    }
}
