// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The thread of the JDK that times futures. The thread outlives the application and refers to the class loader of the thread that
 * started it. Before Java 24, it also refers to the class loaders of all classes on the stack of that thread.
 */
public final class PlatformTimer {
    /** The longest wait for a thread of the common pool. */
    private static final long WAIT_SECONDS = 1;

    private PlatformTimer() {}

    /** Starts the thread, if it does not run, without references to this application. */
    public static void start() {
        if (Integer.getInteger("java.util.concurrent.ForkJoinPool.common.parallelism", 1) == 0) {
            startUnderSystemLoader();
            return;
        }
        try {
            startBy(CompletableFuture.delayedExecutor(1, TimeUnit.NANOSECONDS, Runnable::run))
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            // The first future with a timeout starts the thread.
        }
    }

    /** Starts the thread if the common pool has no threads. At least the class loader is that of the system. */
    private static void startUnderSystemLoader() {
        Thread current = Thread.currentThread();
        ClassLoader application = current.getContextClassLoader();
        try {
            current.setContextClassLoader(ClassLoader.getSystemClassLoader());
            new CompletableFuture<>().completeOnTimeout(null, 1, TimeUnit.NANOSECONDS);
        } finally {
            current.setContextClassLoader(application);
        }
    }

    /** Passes a task to an executor from a thread of the common pool, whose stack has only classes of the JDK. */
    static CompletableFuture<Void> startBy(Executor timer) {
        CompletableFuture<Void> inPool = new CompletableFuture<>();
        CompletableFuture<Void> timed = inPool.thenRunAsync(() -> {}, timer);
        inPool.completeAsync(() -> null, ForkJoinPool.commonPool());
        return timed;
    }
}
