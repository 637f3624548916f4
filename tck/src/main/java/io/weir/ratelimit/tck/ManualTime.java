// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.spi.TimeSource;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that only a test advances. */
public final class ManualTime implements TimeSource {
    /** The initial time: a large number that no window divides. */
    public static final long START_MICROS = 59_876_543_210_123L;

    private final AtomicLong micros = new AtomicLong(START_MICROS);

    @Override
    public long micros() {
        return micros.get();
    }

    /**
     * Advances the clock.
     *
     * @param step microseconds, negative to step back
     */
    public void advanceMicros(long step) {
        if (micros.addAndGet(step) < 0) {
            throw new IllegalArgumentException("the time must not be negative");
        }
    }
}
