// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.slots.Sleeper;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
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

    /** The longest way of the monotonic clock. Times of limits, which are later, still fit in a long. */
    private static final Duration FURTHEST = Duration.ofDays(200 * 365);

    /**
     * A wait that ends when the virtual clock reaches an instant.
     *
     * @param dueNanos the instant, in nanoseconds of the monotonic clock
     * @param order the order among waits that end at the same instant
     * @param end completes at the end of the wait
     * @param thread the thread that waits, null for a timer
     * @param ofCall whether a call waits for permits
     */
    private record Wait(
            long dueNanos,
            long order,
            CompletableFuture<Void> end,
            @Nullable Thread thread,
            boolean ofCall) {
        static final Comparator<Wait> ORDER =
                Comparator.comparingLong(Wait::dueNanos).thenComparing(Wait::order);
    }

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
            throw new IllegalArgumentException("the clock cannot move by the negative duration " + duration);
        }
        Duration left = FURTHEST.minusNanos(nanos);
        if (duration.compareTo(left) > 0) {
            throw new IllegalArgumentException("the clock cannot move by " + duration
                    + ", because it moves by 200 years at most: " + left + " are left");
        }
        moveTo(nanos + duration.toNanos());
    }

    private void moveTo(long target) {
        moveTo(target, new CompletableFuture<>());
    }

    /** Moves the clock to the target, or to the instant at which a signal completes. */
    private void moveTo(long target, CompletableFuture<Void> signal) {
        moving.lock();
        try {
            awaitDecisions();
            while (!signal.isDone()) {
                Wait next = nextDue(target);
                if (next == null) {
                    break;
                }
                next.end().complete(null);
                awaitDecisions();
            }
            dueTasks(nanos).forEach(task -> task.end().complete(null));
        } finally {
            moving.unlock();
        }
    }

    /** Moves the clock to the next end of a wait, or to the target if no wait ends before. */
    private @Nullable Wait nextDue(long target) {
        lock.lock();
        try {
            Wait next = waits.peek();
            if (next == null || next.dueNanos() > target) {
                nanos = Math.max(nanos, target);
                return null;
            }
            waits.remove(next);
            nanos = Math.max(nanos, next.dueNanos());
            Thread thread = next.thread();
            if (thread != null) {
                woken.add(thread);
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    private List<Wait> dueTasks(long now) {
        lock.lock();
        try {
            List<Wait> due =
                    tasks.stream().filter(task -> task.dueNanos() <= now).toList();
            tasks.removeAll(due);
            return due;
        } finally {
            lock.unlock();
        }
    }

    private void awaitDecisions() {
        if (!await(woken::isEmpty)) {
            throw new IllegalStateException("the calls on these threads are not decided after their waits: " + woken());
        }
    }

    private List<String> woken() {
        lock.lock();
        try {
            return woken.stream().map(Thread::getName).toList();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int waiting() {
        lock.lock();
        try {
            return calls();
        } finally {
            lock.unlock();
        }
    }

    private int calls() {
        return (int) waits.stream().filter(Wait::ofCall).count();
    }

    @Override
    public void awaitWaiting(int calls) {
        if (!await(() -> calls() >= calls)) {
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
    public void sleep(CompletableFuture<Void> signal, long micros) throws InterruptedException {
        Thread thread = Thread.currentThread();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (thread.equals(testThread)) {
            moveTo(nanos + micros * 1_000, signal);
            return;
        }
        Wait wait = addUntil(signal, micros, thread);
        try {
            wait.end().get();
        } catch (InterruptedException e) {
            remove(waits, wait);
            throw e;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Adds a wait that a signal ends early. A test that sees the wait can rely on the signal. */
    private Wait addUntil(CompletionStage<Void> signal, long micros, Thread thread) {
        lock.lock();
        try {
            Wait wait = add(waits, micros, thread, true);
            signal.whenComplete((done, failure) -> endEarly(wait, thread));
            return wait;
        } finally {
            lock.unlock();
        }
    }

    /** Ends a wait before its time. The clock moves on only after the call is decided. */
    private void endEarly(Wait wait, Thread thread) {
        lock.lock();
        try {
            if (!waits.remove(wait)) {
                return;
            }
            woken.add(thread);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        wait.end().complete(null);
    }

    @Override
    public void pause(Duration duration) {
        if (Thread.currentThread().equals(testThread)) {
            moveTo(nanos + duration.toNanos());
        } else {
            delay(duration.toNanos() / 1_000).end().join();
        }
    }

    /** Delays the thread. A call that is not decided after its wait is not awaited during the delay, but after it. */
    private Wait delay(long micros) {
        Thread thread = Thread.currentThread();
        lock.lock();
        try {
            return add(waits, micros, woken.contains(thread) ? thread : null, true);
        } finally {
            lock.unlock();
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
            public CompletableFuture<Void> timer(long micros) {
                return VirtualClock.this.timer(tasks, micros, false);
            }
        };
    }

    private Wait add(Queue<Wait> queue, long micros, @Nullable Thread thread, boolean ofCall) {
        lock.lock();
        try {
            order++;
            Wait wait = new Wait(nanos + micros * 1_000, order, new CompletableFuture<>(), thread, ofCall);
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
        return timer(waits, micros, true);
    }

    @Override
    public CompletableFuture<Void> renewalTimer(long micros) {
        return timer(waits, micros, false);
    }

    private CompletableFuture<Void> timer(Queue<Wait> queue, long micros, boolean ofCall) {
        Wait wait = add(queue, micros, null, ofCall);
        CompletionStage<Void> end = wait.end();
        end.whenComplete((done, canceled) -> remove(queue, wait));
        return wait.end();
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

    /** Ends all waits, awaits the decisions on their calls, and shows the first time again. The monotonic clock moves on. */
    @Override
    public void reset() {
        List<Wait> ended;
        lock.lock();
        try {
            ended = new ArrayList<>(waits);
            waits.clear();
            ended.stream().map(Wait::thread).filter(Objects::nonNull).forEach(woken::add);
            originNanos = Math.min(nanos + RESET_NANOS, FURTHEST.toNanos());
            nanos = originNanos;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        ended.forEach(wait -> wait.end().complete(null));
        awaitDecisions();
    }
}
