// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.nemesis.history.History.Span;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The time for which the threads of this process stand still, as a thread measures it that only sleeps. The promises about times except the
 * seconds in which the machine was too slow for them.
 */
final class Stalls {
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A second with a longer stall is reported. */
    private static final long MOST_OF_SECOND = TimeUnit.MILLISECONDS.toNanos(150);

    private final Consumer<Span> slow;
    private volatile long stalledNanos;
    private volatile long lastTick = System.nanoTime();

    /**
     * Creates a measurement.
     *
     * @param slow receives each second in which threads stood still for a part of it
     */
    Stalls(Consumer<Span> slow) {
        this.slow = slow;
    }

    void start() {
        lastTick = System.nanoTime();
        Thread thread = new Thread(this::tick, "stalls");
        thread.setDaemon(true);
        thread.start();
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only this thread writes
    private void tick() {
        long begin = lastTick;
        long before = 0;
        try {
            while (true) {
                TimeUnit.NANOSECONDS.sleep(TICK_NANOS);
                long now = System.nanoTime();
                stalledNanos += stall(now);
                lastTick = now;
                if (now - begin >= SECOND_NANOS) {
                    if (stalledNanos - before > MOST_OF_SECOND) {
                        slow.accept(new Span(begin, now));
                    }
                    begin = now;
                    before = stalledNanos;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private long stall(long now) {
        return Math.max(0, now - lastTick - 2 * TICK_NANOS);
    }

    /** Returns the time since the start, including a stall that has not ended for this thread. */
    long nanos() {
        return stalledNanos + stall(System.nanoTime());
    }
}
