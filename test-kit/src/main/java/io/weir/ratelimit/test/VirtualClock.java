// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.engine.Sleeper;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A clock that only a test moves, and the waits that end by it. */
final class VirtualClock implements TestClock {
    /** The real time for which a test waits for its own threads. */
    private static final long PATIENCE_SECONDS = 10;

    /** A reset moves the monotonic clock on, so that answers and failures of the past are too old. */
    private static final long RESET_NANOS = TimeUnit.DAYS.toNanos(1);

    private final Instant start;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Held while a thread moves the clock. */
    private final ReentrantLock moving = new ReentrantLock();

    private final PriorityQueue<Wait> waits = new PriorityQueue<>(Wait.ORDER);

    /** The timers of repeated tasks. */
    private final PriorityQueue<Wait> tasks = new PriorityQueue<>(Wait.ORDER);

    /** The threads whose wait has ended and whose calls are not decided. */
    private final Set<Thread> woken = new HashSet<>();

    private volatile long nanos;
    private volatile long originNanos;
    private volatile @Nullable Thread testThread;
    private long order;

    private static final class Wait {
        private static final Comparator<Wait> ORDER =
                Comparator.comparingLong((Wait wait) -> wait.dueNanos).thenComparing(wait -> wait.order);

        private final long dueNanos;
        private final long order;
        private final CompletableFuture<Void> end;

        /** Null for a timer. */
        private final @Nullable Thread thread;

        Wait(long dueNanos, long order, CompletableFuture<Void> end, @Nullable Thread thread) {
            this.dueNanos = dueNanos;
            this.order = order;
            this.end = end;
            this.thread = thread;
        }
    }

    VirtualClock(Instant start) {
        this.start = start;
    }

    @Override
    public void testThread(@Nullable Thread thread) {
        testThread = thread;
    }

    @Override
    public Instant now() {
        return start.plusNanos(nanos - originNanos);
    }

    @Override
    public long nanos() {
        return nanos;
    }

    @Override
    public long epochMillis() {
        return now().toEpochMilli();
    }

    @Override
    public void advance(Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException("the clock cannot move back by " + duration.negated());
        }
        moveTo(nanos + duration.toNanos());
    }

    private void moveTo(long target) {
        moving.lock();
        try {
            for (Wait next = nextDue(target); next != null; next = nextDue(target)) {
                next.end.complete(null);
                if (next.thread != null) {
                    awaitDecision(next.thread);
                }
            }
            dueTasks(nanos).forEach(task -> task.end.complete(null));
        } finally {
            moving.unlock();
        }
    }

    /** Moves the clock to the next end of a wait, or to the target if no wait ends before. */
    private @Nullable Wait nextDue(long target) {
        lock.lock();
        try {
            Wait next = waits.peek();
            if (next == null || next.dueNanos > target) {
                nanos = Math.max(nanos, target);
                return null;
            }
            waits.remove(next);
            nanos = Math.max(nanos, next.dueNanos);
            if (next.thread != null) {
                woken.add(next.thread);
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    private List<Wait> dueTasks(long now) {
        lock.lock();
        try {
            List<Wait> due = tasks.stream().filter(task -> task.dueNanos <= now).toList();
            tasks.removeAll(due);
            return due;
        } finally {
            lock.unlock();
        }
    }

    private void awaitDecision(Thread thread) {
        if (!await(() -> !woken.contains(thread))) {
            throw new IllegalStateException("the call on " + thread.getName() + " is not decided after its wait");
        }
    }

    @Override
    public int waiting() {
        lock.lock();
        try {
            return waits.size();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void awaitWaiting(int calls) {
        if (!await(() -> waits.size() >= calls)) {
            throw new AssertionError("expected " + calls + " waiting calls, but " + waiting() + " wait");
        }
    }

    private interface State {
        boolean isReached();
    }

    private boolean await(State state) {
        lock.lock();
        try {
            long left = TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (!state.isReached()) {
                if (left <= 0) {
                    return false;
                }
                left = changed.awaitNanos(left);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return state.isReached();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void sleep(long micros) throws InterruptedException {
        Thread thread = Thread.currentThread();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (thread.equals(testThread)) {
            moveTo(nanos + micros * 1_000);
            return;
        }
        Wait wait = add(waits, micros, thread);
        try {
            wait.end.get();
        } catch (InterruptedException e) {
            remove(waits, wait);
            throw e;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void pause(Duration duration) {
        if (Thread.currentThread().equals(testThread)) {
            moveTo(nanos + duration.toNanos());
        } else {
            timer(duration.toNanos() / 1_000).join();
        }
    }

    /** Returns the timer of repeated tasks. However far the clock moves at once, a task runs once. */
    @Override
    public Sleeper tasks() {
        return new Sleeper() {
            @Override
            public long nanos() {
                return VirtualClock.this.nanos();
            }

            @Override
            public void sleep(long micros) throws InterruptedException {
                VirtualClock.this.sleep(micros);
            }

            @Override
            public CompletableFuture<Void> timer(long micros) {
                return VirtualClock.this.timer(tasks, micros);
            }
        };
    }

    private Wait add(Queue<Wait> queue, long micros, @Nullable Thread thread) {
        lock.lock();
        try {
            order++;
            Wait wait = new Wait(nanos + micros * 1_000, order, new CompletableFuture<>(), thread);
            queue.add(wait);
            woken.remove(thread);
            changed.signalAll();
            return wait;
        } finally {
            lock.unlock();
        }
    }

    private void remove(Queue<Wait> queue, Wait wait) {
        lock.lock();
        try {
            queue.remove(wait);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public CompletableFuture<Void> timer(long micros) {
        return timer(waits, micros);
    }

    private CompletableFuture<Void> timer(Queue<Wait> queue, long micros) {
        Wait wait = add(queue, micros, null);
        CompletionStage<Void> end = wait.end;
        end.whenComplete((done, canceled) -> remove(queue, wait));
        return wait.end;
    }

    @Override
    public void ended() {
        lock.lock();
        try {
            woken.remove(Thread.currentThread());
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends all waits and shows the first time again. The monotonic clock moves on. */
    @Override
    public void reset() {
        List<Wait> ended;
        lock.lock();
        try {
            ended = new ArrayList<>(waits);
            waits.clear();
            woken.clear();
            originNanos = nanos + RESET_NANOS;
            nanos = originNanos;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        ended.forEach(wait -> wait.end.complete(null));
    }
}
