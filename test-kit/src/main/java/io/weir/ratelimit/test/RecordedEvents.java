// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.RateLimitRejected;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The events of a limiter, which a test reads. Thread-safe. */
final class RecordedEvents {
    /** The types of events. */
    static final List<Class<?>> TYPES = List.of(
            RateLimitRejected.class, QuotaThresholdReached.class, PenaltyImposed.class, BackendStateChanged.class);

    private static final int MAX_EVENTS = 10_000;

    private final Deque<Object> events = new ArrayDeque<>();

    synchronized void add(Object event) {
        if (events.size() == MAX_EVENTS) {
            events.removeFirst();
        }
        events.addLast(event);
    }

    synchronized <E> List<E> list(Class<E> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    synchronized void clear() {
        events.clear();
    }
}
