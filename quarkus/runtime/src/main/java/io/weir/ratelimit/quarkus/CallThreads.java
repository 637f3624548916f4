// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.quarkus.arc.Arc;
import io.quarkus.arc.InjectableContext.ContextState;
import io.quarkus.arc.ManagedContext;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** The threads that can block in place of an event loop. Tasks have the request scope of the call. */
final class CallThreads {
    private static volatile @Nullable CallThreads started;

    private final Executor executor;

    CallThreads(Executor executor) {
        this.executor = executor;
    }

    /** Sets the threads of the application. */
    static void start(CallThreads threads) {
        started = threads;
    }

    /** Returns an executor for tasks of the call that runs on the current thread. */
    static Executor ofCall() {
        Executor executor = Objects.requireNonNull(started, "the limits are not started").executor;
        ContextState scope = Arc.container().requestContext().getStateIfActive();
        return scope == null ? executor : task -> executor.execute(() -> inScope(scope, task));
    }

    Executor executor() {
        return executor;
    }

    /** Runs a task in the request scope of another thread. */
    private static void inScope(ContextState scope, Runnable task) {
        if (!scope.isValid()) {
            task.run();
            return;
        }
        ManagedContext context = Arc.container().requestContext();
        ContextState before = context.getStateIfActive();
        context.activate(scope);
        try {
            task.run();
        } finally {
            if (before == null) {
                context.deactivate();
            } else {
                context.activate(before);
            }
        }
    }

    /** Runs a look-up in a request scope of its own, which the data sources and the security of Quarkus require. */
    static void inNewScope(Runnable task) {
        ManagedContext context = Arc.container().requestContext();
        if (context.isActive()) {
            task.run();
            return;
        }
        context.activate();
        try {
            task.run();
        } finally {
            context.terminate();
        }
    }
}
