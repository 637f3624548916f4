// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.concurrent.atomic.AtomicLong;

/** A clock that moves only when a test says so. */
public final class ManualTime implements TimeSource {
    /** Where the clock starts: a large number that no window divides. */
    public static final long START_MICROS = 59_876_543_210_123L;

    private final AtomicLong micros = new AtomicLong(START_MICROS);

    @Override
    public long micros() {
        return micros.get();
    }

    /**
     * Moves the clock.
     *
     * @param step microseconds, negative to step back
     */
    public void advanceMicros(long step) {
        if (micros.addAndGet(step) < 0) {
            throw new IllegalArgumentException("time before the origin");
        }
    }
}
