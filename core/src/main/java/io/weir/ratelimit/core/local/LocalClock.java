// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.CalendarBounds;
import io.weir.ratelimit.spi.TimeSource;
import java.util.function.LongSupplier;

/**
 * The clock of the in-process backend, in microseconds since {@link CalendarBounds#ORIGIN}. It advances with the monotonic clock of the
 * process, so small corrections of the system's clock have no effect. It follows the system's clock if both differ by more than a second,
 * because the system slept or its clock was set.
 */
public final class LocalClock implements TimeSource {
    private static final long SECOND_MICROS = 1_000_000;

    /** A thread reads the monotonic clock for a time that is older than this. */
    private static final long RECENT_MICROS = 10 * SECOND_MICROS;

    private final LongSupplier nanoTime;
    private final LongSupplier epochMillis;
    private final long originNanos;

    /** The time of this clock when the monotonic clock shows its origin. */
    private volatile long offsetMicros;

    /** By how much this clock has stepped forward so far. */
    private volatile long forwardMicros;

    /** The latest comparison with the system's clock, in microseconds since the origin of the monotonic clock. */
    private volatile long comparedMicros;

    /** Creates a clock from a monotonic clock and the time of day in milliseconds since 1970-01-01T00:00:00Z. */
    public LocalClock(LongSupplier nanoTime, LongSupplier epochMillis) {
        this.nanoTime = nanoTime;
        this.epochMillis = epochMillis;
        this.originNanos = nanoTime.getAsLong();
        this.offsetMicros = systemMicros();
    }

    static LocalClock ofProcess() {
        return new LocalClock(System::nanoTime, System::currentTimeMillis);
    }

    @Override
    public long micros() {
        long elapsed = (nanoTime.getAsLong() - originNanos) / 1_000;
        if (elapsed - comparedMicros >= SECOND_MICROS) {
            compare(elapsed);
        }
        return Math.max(0, elapsed + offsetMicros);
    }

    /**
     * Converts a recent result of {@link #micros} to the monotonic clock, in most cases without reading that. Returns the current time if
     * this clock has followed the system's clock in the meantime.
     */
    long nanos(long micros) {
        long elapsed = micros - offsetMicros;
        long sinceCompared = elapsed - comparedMicros;
        return sinceCompared < SECOND_MICROS && sinceCompared > -RECENT_MICROS
                ? originNanos + elapsed * 1_000
                : nanoTime.getAsLong();
    }

    private void compare(long elapsedMicros) {
        comparedMicros = elapsedMicros;
        long offset = systemMicros() - elapsedMicros;
        if (Math.abs(offset - offsetMicros) > SECOND_MICROS) {
            step(offset);
        }
    }

    private synchronized void step(long offset) {
        // A thread that reads the time after the step knows of the step.
        forwardMicros += Math.max(0, offset - offsetMicros);
        offsetMicros = offset;
    }

    /** Returns by how much this clock has stepped forward so far, because it has followed the system's clock. */
    long forwardMicros() {
        return forwardMicros;
    }

    private long systemMicros() {
        return (epochMillis.getAsLong() - CalendarBounds.ORIGIN.toEpochMilli()) * 1_000;
    }
}
