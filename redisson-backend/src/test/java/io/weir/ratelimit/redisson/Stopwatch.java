// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.time.Duration;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.LockSupport;

/**
 * A watch that stands still while the machine does. A thread that does nothing but wake up now and then notes when it was not let
 * to, and that time is nobody's: what is left is what a call took, also where a machine is stopped for a second.
 *
 * @param startNanos since when, as {@link System#nanoTime}
 */
record Stopwatch(long startNanos) {
    /** The thread that takes note, which ends with the JVM. */
    static final String THREAD = "stopwatch";

    private static final long TICK_NANOS = 1_000_000;
    private static final long WORTH_NOTING_NANOS = 1_000_000;

    /** When the thread was late, from when to when. */
    private static final ConcurrentSkipListMap<Long, Long> STALLS = new ConcurrentSkipListMap<>();

    private static volatile long lastTickNanos = System.nanoTime();

    static {
        Thread thread = new Thread(Stopwatch::tick, THREAD);
        thread.setDaemon(true);
        thread.start();
    }

    private static void tick() {
        while (true) {
            LockSupport.parkNanos(TICK_NANOS);
            long due = lastTickNanos + TICK_NANOS;
            long now = System.nanoTime();
            if (now - due > WORTH_NOTING_NANOS) {
                STALLS.put(due, now);
            }
            lastTickNanos = now;
        }
    }

    static Stopwatch started() {
        return new Stopwatch(System.nanoTime());
    }

    Duration elapsed() {
        return between(startNanos, System.nanoTime());
    }

    /** The time between two instants, without that in which the machine stood still; of instants since the first watch was started. */
    static Duration between(long startNanos, long endNanos) {
        // Who was woken first after a stall has not noted it yet.
        while (lastTickNanos - endNanos < 0) {
            LockSupport.parkNanos(TICK_NANOS);
        }
        Long before = STALLS.lowerKey(startNanos);
        long still = STALLS.subMap(before == null ? startNanos : before, endNanos).entrySet().stream()
                .mapToLong(stall -> Math.min(stall.getValue(), endNanos) - Math.max(stall.getKey(), startNanos))
                .filter(nanos -> nanos > 0)
                .sum();
        return Duration.ofNanos(endNanos - startNanos - still);
    }
}
