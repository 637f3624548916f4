// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

/**
 * An instant of Redis's clock, and instants by {@link System#nanoTime} before the script call was sent and after its reply was received. As
 * the script runs between them, the current time of Redis is known to within the duration of that round trip.
 */
public record RedisTime(long micros, long sentNanos, long receivedNanos) {
    /** Returns the earliest time that Redis's clock can show, in microseconds. */
    public long earliestMicros(long nowNanos) {
        return micros + sinceReceived(nowNanos) / 1_000;
    }

    /** Returns the latest time that Redis's clock can show, in microseconds. */
    public long latestMicros(long nowNanos) {
        long sinceSent = receivedNanos - sentNanos + sinceReceived(nowNanos);
        return micros + (sinceSent + 999) / 1_000;
    }

    /** A thread that has this object runs after the receipt, even if it read its clock before. */
    private long sinceReceived(long nowNanos) {
        return Math.max(0, nowNanos - receivedNanos);
    }
}
