// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.RateLimitRejected;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** The events of a limiter, which a test reads. Thread-safe. */
final class RecordedEvents {
    /** The types of events. */
    static final List<Class<?>> TYPES = List.of(
            RateLimitRejected.class, QuotaThresholdReached.class, PenaltyImposed.class, BackendStateChanged.class);

    private static final int MAX_EVENTS = 10_000;
    private static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Deque<Object> events = new ArrayDeque<>();

    synchronized void add(Object event) {
        if (events.size() == MAX_EVENTS) {
            events.removeFirst();
        }
        events.addLast(event);
        notifyAll();
    }

    synchronized <E> List<E> list(Class<E> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    /**
     * Waits until the events of a type satisfy a condition. An interrupt ends the wait. The condition runs without the lock, because it can
     * wait for a call that records an event.
     */
    <E> List<E> await(Class<E> type, Predicate<? super List<E>> condition) {
        long start = System.nanoTime();
        List<E> found = list(type);
        while (!condition.test(found)) {
            try {
                long left = MAX_WAIT_NANOS - (System.nanoTime() - start);
                if (left <= 0) {
                    throw new AssertionError("the events do not satisfy the condition after ten seconds: " + found);
                }
                found = next(type, found.size(), left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted while the events did not satisfy the condition: " + found, e);
            }
        }
        return found;
    }

    /** Returns the events of a type, as soon as their number is another one or the time has elapsed. */
    private synchronized <E> List<E> next(Class<E> type, int known, long nanos) throws InterruptedException {
        List<E> found = list(type);
        if (found.size() == known) {
            TimeUnit.NANOSECONDS.timedWait(this, nanos);
            found = list(type);
        }
        return found;
    }

    synchronized void clear() {
        events.clear();
    }
}
