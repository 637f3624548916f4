// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The thread by which the platform times futures. It outlives every application and keeps what it was started under: the class
 * loader of its parent, and before Java 24 those of all classes that stood on its parent's stack.
 */
final class PlatformTimer {
    /** Where the common pool has no thread to spare, it is not waited for. */
    private static final long PATIENCE_SECONDS = 1;

    private PlatformTimer() {}

    /** Starts it, if it does not run, under nothing of this application. */
    static void start() {
        if (Integer.getInteger("java.util.concurrent.ForkJoinPool.common.parallelism", 1) == 0) {
            startUnderSystemLoader();
            return;
        }
        try {
            startBy(CompletableFuture.delayedExecutor(1, TimeUnit.NANOSECONDS, Runnable::run))
                    .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            // Who times a future next starts it.
        }
    }

    /** Where the common pool has no threads: at least the class loader is not kept. */
    private static void startUnderSystemLoader() {
        Thread current = Thread.currentThread();
        ClassLoader ofApplication = current.getContextClassLoader();
        try {
            current.setContextClassLoader(ClassLoader.getSystemClassLoader());
            new CompletableFuture<>().completeOnTimeout(null, 1, TimeUnit.NANOSECONDS);
        } finally {
            current.setContextClassLoader(ofApplication);
        }
    }

    /** Hands an executor its task from the common pool, where nothing but the platform is on the stack by then. */
    static CompletableFuture<Void> startBy(Executor timer) {
        CompletableFuture<Void> inPool = new CompletableFuture<>();
        CompletableFuture<Void> timed = inPool.thenRunAsync(() -> {}, timer);
        inPool.completeAsync(() -> null, ForkJoinPool.commonPool());
        return timed;
    }
}
