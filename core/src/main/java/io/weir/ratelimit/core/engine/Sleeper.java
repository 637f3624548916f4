// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/** The clock and the timer of calls that wait for permits. */
public interface Sleeper {
    /** A sleeper in real time. */
    Sleeper REAL = new Sleeper() {
        @Override
        public long nanos() {
            return System.nanoTime();
        }

        /** Parks, because {@link Thread#sleep} counts whole milliseconds. */
        @Override
        public void sleep(long micros) throws InterruptedException {
            long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(micros);
            for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                LockSupport.parkNanos(this, left);
            }
        }

        @Override
        public CompletableFuture<Void> timer(long micros) {
            return new CompletableFuture<Void>().completeOnTimeout(null, micros, TimeUnit.MICROSECONDS);
        }
    };

    /**
     * Returns the time of a monotonic clock.
     *
     * @return nanoseconds since an arbitrary origin
     */
    long nanos();

    /**
     * Blocks the calling thread.
     *
     * @param micros the shortest duration, in microseconds
     * @throws InterruptedException if the thread is interrupted
     */
    void sleep(long micros) throws InterruptedException;

    /**
     * Starts a timer that needs no thread.
     *
     * @param micros the shortest duration, in microseconds
     * @return a future that completes on any thread; canceling it stops the timer
     */
    CompletableFuture<Void> timer(long micros);

    /**
     * Blocks the calling thread until a signal, for a time at most.
     *
     * @param signal completes when the wait ends early
     * @param micros the longest duration, in microseconds
     * @throws InterruptedException if the thread is interrupted
     */
    default void sleep(CompletableFuture<Void> signal, long micros) throws InterruptedException {
        try {
            signal.get(micros, TimeUnit.MICROSECONDS);
        } catch (TimeoutException | ExecutionException e) {
            // The wait has ended.
        }
    }
}
