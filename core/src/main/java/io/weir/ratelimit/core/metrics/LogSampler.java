// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

/** A sampler for a log message that clients can cause at will. It selects one event per interval, with the number of events. */
public final class LogSampler {
    private final long intervalNanos;
    private long pending;
    private long loggedNanos;
    private boolean logged;

    /**
     * Creates a sampler without events.
     *
     * @param intervalNanos the shortest time between two messages, in nanoseconds
     */
    public LogSampler(long intervalNanos) {
        this.intervalNanos = intervalNanos;
    }

    /**
     * Counts an event and returns the number of events for a message.
     *
     * @param nanos the time of a monotonic clock, in nanoseconds
     * @return the number of events since the previous message, including this one; 0 if no message is due
     */
    public synchronized long countToLog(long nanos) {
        pending++;
        if (logged && nanos - loggedNanos < intervalNanos) {
            return 0;
        }
        long count = pending;
        pending = 0;
        logged = true;
        loggedNanos = nanos;
        return count;
    }
}
