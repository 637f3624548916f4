// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.slots;

import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The clock of an engine, and the timer of its calls that wait for permits. */
public interface Sleeper {
    /** A sleeper in real time. */
    Sleeper REAL = new Sleeper() {
        @Override
        public long nanos() {
            return System.nanoTime();
        }

        /** Parks, so that no other thread has to wake this one at the end. */
        @Override
        public void sleep(CompletableFuture<Void> signal, long micros) throws InterruptedException {
            Thread thread = Thread.currentThread();
            CompletionStage<Void> early = signal;
            early.whenComplete((nothing, canceled) -> LockSupport.unpark(thread));
            long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(micros);
            for (long left = end - System.nanoTime(); left > 0 && !signal.isDone(); left = end - System.nanoTime()) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                LockSupport.parkNanos(this, left);
            }
        }

        /** Completes the future of the JDK, because early versions of JDK 17 keep a canceled one in the queue until it is due. */
        @Override
        public CompletableFuture<Void> timer(long micros) {
            CompletableFuture<Void> due =
                    new CompletableFuture<Void>().completeOnTimeout(null, micros, TimeUnit.MICROSECONDS);
            CompletableFuture<Void> timer = due.copy();
            CompletionStage<Void> ended = timer;
            ended.whenComplete((nothing, canceled) -> due.complete(null));
            return timer;
        }
    };

    /** Returns the nanoseconds of a monotonic clock since an arbitrary origin. */
    long nanos();

    /** Returns the milliseconds since 1970-01-01T00:00:00Z. */
    default long epochMillis() {
        return System.currentTimeMillis();
    }

    /** Returns the time of day with a finer resolution than {@link #epochMillis}. */
    default Instant now() {
        return Instant.now();
    }

    /** Starts a timer that needs no thread. Returns a future that completes on any thread; canceling it stops the timer. */
    CompletableFuture<Void> timer(long micros);

    /** Starts a timer in microseconds for the renewal of slots, for which no call waits. */
    default CompletableFuture<Void> renewalTimer(long micros) {
        return timer(micros);
    }

    /**
     * Blocks the calling thread for a time in microseconds, or until the signal completes. Throws an {@link InterruptedException} if the
     * thread is interrupted.
     */
    default void sleep(CompletableFuture<Void> signal, long micros) throws InterruptedException {
        CompletableFuture<Void> timer = timer(micros);
        try {
            CompletableFuture.anyOf(signal, timer).get();
        } catch (ExecutionException e) {
            // The wait has ended.
        } finally {
            timer.cancel(false);
        }
    }

    /** Ends a call that has waited on the calling thread: it is decided. */
    default void ended() {}
}
