// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.core.limit.CalendarBounds;
import java.util.function.LongSupplier;

/**
 * The time that Redis's clock probably shows: the instant of the latest reply about a calendar limit, continued by the monotonic clock of
 * this instance. Before the first reply it is the time of this instance. It selects the periods that are sent, never the one that applies.
 */
final class RedisClock {
    private final LongSupplier nanoTime;

    /** The difference of Redis's time and the monotonic clock, in microseconds. */
    private volatile long offsetMicros;

    RedisClock(LongSupplier nanoTime, LongSupplier epochMillis) {
        this.nanoTime = nanoTime;
        set((epochMillis.getAsLong() - CalendarBounds.ORIGIN.toEpochMilli()) * 1_000);
    }

    static RedisClock ofProcess() {
        return new RedisClock(System::nanoTime, System::currentTimeMillis);
    }

    /** Returns the time, in microseconds since {@link CalendarBounds#ORIGIN}. */
    long micros() {
        return nanoTime.getAsLong() / 1_000 + offsetMicros;
    }

    /** Sets the time, which Redis's clock has shown a short time ago. */
    void set(long micros) {
        offsetMicros = micros - nanoTime.getAsLong() / 1_000;
    }
}
