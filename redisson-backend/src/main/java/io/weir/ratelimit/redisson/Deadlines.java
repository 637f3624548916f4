// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Ends asynchronous checks at their deadline. All have the same time to live, so a queue has them in the order of their deadlines, and
 * one timer is enough for all: most checks are answered long before, and a timer of its own would cost each more than its decision.
 */
final class Deadlines {
    /** How many come before the queue is gone through for those that are answered. */
    private static final int SWEEP_EVERY = 1_024;

    private final Duration deadline;
    private final Consumer<Check> late;
    private final ConcurrentLinkedQueue<Check> pending = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean running = new AtomicBoolean();
    private final AtomicInteger watched = new AtomicInteger();

    /**
     * Deadlines.
     *
     * @param deadline what each check has from its boarding
     * @param late ends a check that is late
     */
    Deadlines(Duration deadline, Consumer<Check> late) {
        this.deadline = deadline;
        this.late = late;
    }

    void watch(Check check) {
        dropDone();
        pending.add(check);
        // One that is never answered would keep all behind it until its deadline, however long that is.
        if (watched.incrementAndGet() % SWEEP_EVERY == 0) {
            pending.removeIf(Check::isDone);
        }
        if (!running.get() && running.compareAndSet(false, true)) {
            runIn(deadline.toNanos());
        }
    }

    private void dropDone() {
        Check first = pending.peek();
        while (first != null && first.isDone()) {
            pending.remove(first);
            first = pending.peek();
        }
    }

    private void runIn(long nanos) {
        CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, Runnable::run)
                .execute(this::endLate);
    }

    private void endLate() {
        long now = System.nanoTime();
        Check first = pending.peek();
        while (first != null && (first.isDone() || first.deadlineNanos - now <= 0)) {
            if (!first.isDone()) {
                late.accept(first);
            }
            pending.remove(first);
            first = pending.peek();
        }
        if (first != null) {
            runIn(first.deadlineNanos - now);
            return;
        }
        running.set(false);
        // One that came between the last look and that line has found a timer running.
        if (!pending.isEmpty() && running.compareAndSet(false, true)) {
            runIn(0);
        }
    }
}
