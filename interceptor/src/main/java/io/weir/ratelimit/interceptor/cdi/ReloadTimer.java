// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.engine.Pause;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Does one thing again and again while the application runs, on the container's executor. A turn that takes long delays the next.
 * Has no thread: between two turns only a timer of the JDK's knows of it, from which {@link #stop} takes it.
 */
final class ReloadTimer {
    private final Pause pause;
    private final long intervalMicros;
    private final Runnable turn;
    private @Nullable CompletableFuture<Void> next;
    private boolean stopped;

    ReloadTimer(Pause pause, long intervalMicros, Runnable turn) {
        this.pause = pause;
        this.intervalMicros = intervalMicros;
        this.turn = turn;
    }

    /**
     * Starts, unless it runs or was stopped.
     *
     * @param executor does the turns
     * @param application the class loader that they have
     */
    synchronized void start(Executor executor, ClassLoader application) {
        if (next == null) {
            arm(executor, application);
        }
    }

    /** Ends it. A turn that runs comes to its end. */
    synchronized void stop() {
        stopped = true;
        if (next != null) {
            next.cancel(false);
        }
    }

    private synchronized void arm(Executor executor, ClassLoader application) {
        if (stopped) {
            return;
        }
        CompletableFuture<Void> due = pause.after(intervalMicros);
        next = due;
        CompletionStage<Void> turned = due.thenRunAsync(() -> turn(application), executor);
        turned.whenComplete((done, failure) -> arm(executor, application));
    }

    private void turn(ClassLoader application) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(application);
        try {
            turn.run();
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
