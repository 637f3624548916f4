// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * A bound on the request threads inside one resolver of the application. No deadline can end a call on the thread of its request. If a
 * resolver hangs, it holds this number of threads, and all other calls go on without it.
 */
final class ThreadBound {
    static final int MAX_THREADS = 8;

    private final Semaphore free = new Semaphore(MAX_THREADS);
    private final long deadlineNanos;

    /** Whether a call has waited in vain and no thread has left since. Other calls do not wait then. */
    private volatile boolean exhausted;

    /** Creates a bound without threads inside, given the longest time that a call waits for its turn. */
    ThreadBound(long deadlineNanos) {
        this.deadlineNanos = deadlineNanos;
    }

    /** Lets a call in. Returns false if too many threads remain inside until the deadline. */
    boolean enter() {
        if (free.tryAcquire()) {
            return true;
        }
        if (exhausted) {
            return false;
        }
        try {
            if (free.tryAcquire(deadlineNanos, TimeUnit.NANOSECONDS)) {
                return true;
            }
            exhausted = true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    /** Ends a call that was let in. Returns whether other calls were not let in meanwhile. */
    boolean leave() {
        boolean ended = exhausted;
        if (ended) {
            exhausted = false;
        }
        free.release();
        return ended;
    }
}
