// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** How calls wait for their slots. A test passes its own. */
public interface Pause {
    /** Waits in real time. */
    Pause REAL = new Pause() {
        private volatile boolean timerRuns;

        @Override
        public long nanos() {
            return System.nanoTime();
        }

        /** Parks, since a sleep counts whole milliseconds. */
        @Override
        public void hold(long micros) throws InterruptedException {
            long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(micros);
            for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                LockSupport.parkNanos(this, left);
            }
        }

        @Override
        public CompletableFuture<Void> after(long micros) {
            if (!timerRuns) {
                PlatformTimer.start();
                timerRuns = true;
            }
            return new CompletableFuture<Void>().completeOnTimeout(null, micros, TimeUnit.MICROSECONDS);
        }
    };

    /**
     * A monotonic clock.
     *
     * @return nanoseconds since an origin of its choice
     */
    long nanos();

    /**
     * Holds the calling thread.
     *
     * @param micros for how many microseconds at least
     * @throws InterruptedException if the thread is interrupted
     */
    void hold(long micros) throws InterruptedException;

    /**
     * Completes later, and holds no thread until then.
     *
     * @param micros after how many microseconds at least
     * @return completed on any thread; cancelling it ends the wait
     */
    CompletableFuture<Void> after(long micros);
}
