// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.slots.Sleeper;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A timer that repeats a task on the executor of the container while the application runs. A long run delays the next one. The timer
 * has no thread: between two runs, only the timer of the JDK refers to it, and {@link #stop} cancels that.
 */
final class TaskTimer {
    private final Sleeper sleeper;
    private final LongSupplier intervalMicros;
    private final Runnable task;
    private @Nullable CompletableFuture<Void> next;
    private boolean stopped;
    private volatile boolean failing;

    TaskTimer(Sleeper sleeper, LongSupplier intervalMicros, Runnable task) {
        this.sleeper = sleeper;
        this.intervalMicros = intervalMicros;
        this.task = task;
    }

    /** Starts the timer, unless it runs or was stopped. The context class loader of the task is that of the application. */
    synchronized void start(Executor executor, ClassLoader application) {
        if (next == null) {
            arm(executor, application);
        }
    }

    /** Stops the timer. A task that runs is not interrupted. */
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
        CompletableFuture<Void> due = sleeper.timer(intervalMicros.getAsLong());
        next = due;
        CompletionStage<Void> done = due.thenRunAsync(() -> run(application), executor);
        done.whenComplete((nothing, failure) -> arm(executor, application));
    }

    private void run(ClassLoader application) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(application);
        try {
            task.run();
            failing = false;
        } catch (RuntimeException | LinkageError e) {
            log(e);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private void log(Throwable failure) {
        if (!failing) {
            failing = true;
            MESSAGES.log(failure, "WEIR-432", task.getClass().getName());
        }
    }
}
