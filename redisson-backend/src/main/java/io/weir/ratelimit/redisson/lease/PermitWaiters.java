// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.lease;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait for permits of a lease, first come, first served. New permits wake one thread, which wakes the next one if permits are
 * left. Running threads spend most permits meanwhile, so few threads are woken per grant.
 */
final class PermitWaiters {
    /** A thread that waits. */
    static final class Waiter {
        private final Thread thread = Thread.currentThread();
        private volatile boolean woken;

        /** Waits until this thread is woken or interrupted, or the time has passed. */
        void await(long nanos) {
            long start = System.nanoTime();
            long left = nanos;
            while (!woken && left > 0 && !thread.isInterrupted()) {
                LockSupport.parkNanos(this, left);
                left = nanos - (System.nanoTime() - start);
            }
        }

        private void wake() {
            woken = true;
            LockSupport.unpark(thread);
        }
    }

    private final ConcurrentLinkedQueue<Waiter> waiters = new ConcurrentLinkedQueue<>();

    /** Adds the current thread. It must check for permits once more before it waits. */
    Waiter add() {
        Waiter waiter = new Waiter();
        waiters.add(waiter);
        return waiter;
    }

    void remove(Waiter waiter) {
        waiters.remove(waiter);
    }

    /** Wakes the thread that has waited for the longest time. */
    void wakeOne() {
        Waiter first = waiters.poll();
        if (first != null) {
            first.wake();
        }
    }

    /** Wakes all threads, since no permits will arrive soon. */
    void wakeAll() {
        for (Waiter next = waiters.poll(); next != null; next = waiters.poll()) {
            next.wake();
        }
    }
}
