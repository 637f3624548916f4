// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.lease.Timer;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Cancels asynchronous calls at their deadline. All calls have the same time to live, so a queue keeps them in the order of their
 * deadlines and one timer serves them all. Most calls complete long before; a timer per call would cost more than the decision.
 */
final class TimeoutQueue {
    /** After how many additions completed calls are removed from the whole queue. */
    private static final int SWEEP_INTERVAL = 1_024;

    private final Duration deadline;
    private final LongSupplier nanoTime;
    private final Timer timer;
    private final ConcurrentLinkedQueue<PendingCall<?>> pending = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean timerRunning = new AtomicBoolean();
    private final AtomicInteger additions = new AtomicInteger();

    /** Creates a queue with the time between the start of a call and its deadline. */
    TimeoutQueue(Duration deadline) {
        this(deadline, System::nanoTime, Timer.PLATFORM);
    }

    TimeoutQueue(Duration deadline, LongSupplier nanoTime, Timer timer) {
        this.deadline = deadline;
        this.nanoTime = nanoTime;
        this.timer = timer;
    }

    /** Cancels a call when its deadline passes, unless the call is complete by then. */
    void watch(PendingCall<?> call) {
        removeCompletedHead();
        pending.add(call);
        // A call that never completes would keep all calls behind it until its deadline.
        if (additions.incrementAndGet() % SWEEP_INTERVAL == 0) {
            pending.removeIf(TimeoutQueue::isComplete);
        }
        if (!timerRunning.get() && timerRunning.compareAndSet(false, true)) {
            startTimer(deadline.toNanos());
        }
    }

    private static boolean isComplete(PendingCall<?> call) {
        return call.completion().isDone();
    }

    private void removeCompletedHead() {
        PendingCall<?> head = pending.peek();
        while (head != null && isComplete(head)) {
            pending.remove(head);
            head = pending.peek();
        }
    }

    private void startTimer(long nanos) {
        timer.runAfter(nanos, this::cancelExpired);
    }

    private void cancelExpired() {
        long now = nanoTime.getAsLong();
        try {
            PendingCall<?> head = pending.peek();
            while (head != null && (isComplete(head) || head.deadlineNanos() - now <= 0)) {
                pending.remove(head);
                if (!isComplete(head)) {
                    head.cancel(BlockingAwait.timedOut(deadline));
                }
                head = pending.peek();
            }
        } finally {
            // Also if a call fails to be cancelled, since the timer ends the calls behind it.
            continueTimer(now);
        }
    }

    private void continueTimer(long now) {
        PendingCall<?> head = pending.peek();
        if (head != null) {
            startTimer(Math.max(0, head.deadlineNanos() - now));
            return;
        }
        timerRunning.set(false);
        // A call that was added after the last peek has found the timer running.
        if (!pending.isEmpty() && timerRunning.compareAndSet(false, true)) {
            startTimer(0);
        }
    }
}
