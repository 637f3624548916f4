// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.util.Comparator;
import java.util.PriorityQueue;

/** A clock that advances from one scheduled event to the next. Not thread-safe. */
final class ModelTime {
    private record Event(long atMicros, long order, Runnable task) {}

    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::atMicros).thenComparingLong(Event::order));
    private long micros;
    private long scheduled;

    long micros() {
        return micros;
    }

    void in(long afterMicros, Runnable task) {
        events.add(new Event(micros + afterMicros, scheduled++, task));
    }

    /** Runs all events that are scheduled until an instant. */
    void passTo(long untilMicros) {
        while (!events.isEmpty() && events.peek().atMicros <= untilMicros) {
            Event next = events.remove();
            micros = next.atMicros;
            next.task.run();
        }
        micros = untilMicros;
    }
}
