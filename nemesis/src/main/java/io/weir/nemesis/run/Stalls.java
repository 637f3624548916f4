// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.nemesis.history.History.Span;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The time for which the threads of this process stand still, as a thread measures it that only sleeps. The promises about times except the
 * seconds in which the machine was too slow for them.
 */
final class Stalls implements AutoCloseable {
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A second with a longer stall is reported. */
    private static final long MOST_OF_SECOND = TimeUnit.MILLISECONDS.toNanos(150);

    private final Consumer<Span> slow;
    private final Thread thread = new Thread(this::tick, "stalls");
    private volatile Tick last = new Tick(System.nanoTime(), 0);

    private record Tick(long at, long stalledNanos) {
        long stalledNanos(long now) {
            return stalledNanos + Math.max(0, now - at - 2 * TICK_NANOS);
        }
    }

    /**
     * Creates a measurement.
     *
     * @param slow receives each second in which threads stood still for a part of it
     */
    Stalls(Consumer<Span> slow) {
        this.slow = slow;
    }

    void start() {
        last = new Tick(System.nanoTime(), 0);
        thread.setDaemon(true);
        thread.start();
    }

    private void tick() {
        long begin = last.at;
        long before = 0;
        try {
            while (true) {
                TimeUnit.NANOSECONDS.sleep(TICK_NANOS);
                long now = System.nanoTime();
                last = new Tick(now, last.stalledNanos(now));
                if (now - begin >= SECOND_NANOS) {
                    if (last.stalledNanos - before > MOST_OF_SECOND) {
                        slow.accept(new Span(begin, now));
                    }
                    begin = now;
                    before = last.stalledNanos;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }

    /** Returns the time since the start, including a stall that has not ended for this thread. */
    long nanos() {
        return last.stalledNanos(System.nanoTime());
    }
}
