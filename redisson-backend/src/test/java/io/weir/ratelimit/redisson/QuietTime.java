// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.time.Duration;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Time that has passed, less the time for which a busy machine has kept threads from going on: what a call takes of it is the call's
 * own. A thread that wants nothing but to go on each millisecond notes when it came late.
 */
final class QuietTime {
    static final String THREAD = "quiet-time";

    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Less is what going on takes on any machine. */
    private static final long WORTH_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** From when to when the thread was late, as {@link System#nanoTime}. Two minutes of them are kept. */
    private static final ConcurrentSkipListMap<Long, Long> PAUSES = new ConcurrentSkipListMap<>();

    private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(2);

    private static volatile long lastTickNanos = System.nanoTime();

    static {
        Thread ticking = new Thread(QuietTime::tick, THREAD);
        ticking.setDaemon(true);
        ticking.start();
    }

    private QuietTime() {}

    /** Begins to watch the machine, if nobody has before. */
    static void watch() {
        // Initializing the class has begun it.
    }

    private static void tick() {
        while (true) {
            long due = System.nanoTime() + TICK_NANOS;
            LockSupport.parkNanos(TICK_NANOS);
            long now = System.nanoTime();
            if (now - due > WORTH_NANOS) {
                PAUSES.put(due, now);
                PAUSES.headMap(now - KEPT_NANOS).clear();
            }
            lastTickNanos = now;
        }
    }

    /** From an instant of {@link System#nanoTime} to now. */
    static Duration since(long startNanos) {
        return between(startNanos, System.nanoTime());
    }

    /** Between two instants of {@link System#nanoTime}, of which the later one has passed. */
    static Duration between(long startNanos, long endNanos) {
        while (lastTickNanos - endNanos < 0) {
            LockSupport.parkNanos(TICK_NANOS);
        }
        long late = PAUSES.headMap(endNanos).entrySet().stream()
                .filter(pause -> pause.getValue() > startNanos)
                .mapToLong(pause -> Math.min(pause.getValue(), endNanos) - Math.max(pause.getKey(), startNanos))
                .sum();
        return Duration.ofNanos(endNanos - startNanos - late);
    }
}
