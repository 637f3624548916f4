// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.slots.Sleeper;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The clock of the engine of a test. */
interface TestClock extends RateLimitClock, Sleeper {
    @Override
    Instant now();

    /** Sets the thread whose calls move the clock instead of waiting; null if there is none. */
    void testThread(@Nullable Thread thread);

    /** Lets a call of the backend take time. */
    void pause(Duration duration);

    /** Returns the timer of repeated tasks. */
    Sleeper tasks();

    /** Ends all waits, awaits the decisions on their calls, and shows the first time again. */
    void reset();
}
