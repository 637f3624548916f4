// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits for a condition, at most for a while. */
public final class Await {
    private static final Duration PAUSE = Duration.ofMillis(5);

    private Await() {}

    /**
     * Waits until a condition holds.
     *
     * @param what the condition in words
     * @param atMost the longest to wait
     * @param condition asked again and again
     */
    public static void until(String what, Duration atMost, BooleanSupplier condition) {
        until(what, atMost, PAUSE, condition);
    }

    /**
     * As {@link #until(String, Duration, BooleanSupplier)}, of a condition that costs something to ask.
     *
     * @param what the condition in words
     * @param atMost the longest to wait
     * @param pause how long to wait before asking again
     * @param condition asked again and again
     */
    public static void until(String what, Duration atMost, Duration pause, BooleanSupplier condition) {
        long end = System.nanoTime() + atMost.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not within " + atMost + ": " + what);
            }
            try {
                TimeUnit.NANOSECONDS.sleep(pause.toNanos());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted while waiting: " + what, e);
            }
        }
    }
}
