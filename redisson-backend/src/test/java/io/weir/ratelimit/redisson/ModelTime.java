// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.util.Comparator;
import java.util.PriorityQueue;

/** A time that passes from one planned event to the next. For use by one thread. */
final class ModelTime {
    private record Event(long atMicros, long order, Runnable what) {}

    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::atMicros).thenComparingLong(Event::order));
    private long micros;
    private long planned;

    long micros() {
        return micros;
    }

    void in(long afterMicros, Runnable what) {
        events.add(new Event(micros + afterMicros, planned++, what));
    }

    /** Lets all happen that is planned until then. */
    void passTo(long untilMicros) {
        while (!events.isEmpty() && events.peek().atMicros <= untilMicros) {
            Event next = events.remove();
            micros = next.atMicros;
            next.what.run();
        }
        micros = untilMicros;
    }
}
