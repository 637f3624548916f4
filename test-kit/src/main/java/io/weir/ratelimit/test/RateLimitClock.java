// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import java.time.Duration;
import java.time.Instant;

/**
 * The virtual clock of a test. All limits, waits, caches and outages of the engine use it, and it moves only when the test moves it.
 *
 * <p>A call that waits for permits on the thread of the test moves the clock itself to the end of its wait, because no other thread
 * would. A call that waits on another thread remains in its wait until the test moves the clock, or until another call releases the slot
 * that it waits for.
 *
 * <p>Implementations are thread-safe.
 */
public interface RateLimitClock {
    /**
     * Returns the time of this clock.
     *
     * @return the time
     */
    Instant now();

    /**
     * Moves the clock. It stops at each instant at which a wait ends, and continues when the calls that waited are decided. Calls that
     * wait therefore have the same decisions in each run.
     *
     * @param duration the duration, zero or more
     * @throws IllegalArgumentException if the duration is negative, or all moves of this clock together are longer than 200 years
     */
    void advance(Duration duration);

    /**
     * Moves the clock to an instant like {@link #advance}.
     *
     * @param instant the instant, not before {@link #now()}
     * @throws IllegalArgumentException if the instant is in the past, or all moves of this clock together are longer than 200 years
     */
    default void advanceTo(Instant instant) {
        advance(Duration.between(now(), instant));
    }

    /**
     * Returns the number of calls that wait for permits.
     *
     * @return the number, 0 or more
     */
    int waiting();

    /**
     * Blocks the thread of the test until calls on other threads wait for permits.
     *
     * @param calls the least number of waiting calls, 1 or more
     * @throws AssertionError if fewer calls wait after ten seconds of real time
     */
    void awaitWaiting(int calls);
}
