// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one slot that wait for the next batch, and the number of batches in flight. A lock guards both. It is held while a batch
 * is filled, and never while a batch is sent or completed.
 */
public final class BatchQueue {
    /** With more batches in flight a request waits less while Redis is idle, and batches are smaller while Redis is busy. */
    public static final int MAX_IN_FLIGHT = 2;

    /** The number of keys that may wait in all queues: they take memory, and time of Redis. */
    public static final int MAX_WAITING_KEYS = 8_192;

    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<AcquireRequest> waiting = new ArrayDeque<>();
    private final AtomicInteger allWaitingKeys;
    private int waitingKeys;
    private int cancelled;
    private int inFlight;

    /** Creates a queue that counts the waiting keys of this and other queues. */
    public BatchQueue(AtomicInteger allWaitingKeys) {
        this.allWaitingKeys = allWaitingKeys;
    }

    /** How {@link #add} has treated a request. */
    public enum Added {
        /** The request is in a batch of its own, which is to be sent at once. */
        IN_BATCH,
        /** The request waits for the next batch. */
        WAITING,
        /** The request does not wait, since too many keys do already. */
        FULL
    }

    /** Adds a request, to a batch or to the queue. */
    public Added add(AcquireRequest request) {
        lock.lock();
        try {
            request.queue = this;
            if (inFlight < MAX_IN_FLIGHT && waitingKeys == 0) {
                request.batch = new Batch(request);
                inFlight++;
                return Added.IN_BATCH;
            }
            if (allWaitingKeys.get() + request.keys.size() > MAX_WAITING_KEYS) {
                request.dequeued = true;
                return Added.FULL;
            }
            waiting.add(request);
            countWaiting(request.keys.size());
            return Added.WAITING;
        } finally {
            lock.unlock();
        }
    }

    /** Removes a request that nobody awaits any more. Returns the batch that contains it, null if it was not sent and never will be. */
    @Nullable
    public Batch remove(AcquireRequest request) {
        lock.lock();
        try {
            if (request.batch == null && !request.dequeued) {
                request.dequeued = true;
                countWaiting(-request.keys.size());
                cancelled++;
                if (cancelled > waiting.size() / 2) {
                    waiting.removeIf(each -> each.dequeued);
                    cancelled = 0;
                }
            }
            return request.batch;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Marks a batch that is in flight as timed out if the deadline of one of its requests has passed.
     *
     * @return true the first time; false if the deadline has not passed, or the batch is in flight no longer
     */
    public boolean timeOut(Batch batch, AcquireRequest request) {
        lock.lock();
        try {
            boolean timedOut = !batch.released && !batch.timedOut && request.deadlineNanos - System.nanoTime() <= 0;
            batch.timedOut |= timedOut;
            return timedOut;
        } finally {
            lock.unlock();
        }
    }

    /** Releases the place of a batch, unless that has happened before. Returns the batch that is to be sent next, null if there is none. */
    @Nullable
    public Batch release(Batch batch) {
        lock.lock();
        try {
            if (batch.released) {
                return null;
            }
            batch.released = true;
            inFlight--;
            return next();
        } finally {
            lock.unlock();
        }
    }

    /** Fills a batch with the requests that wait and whose deadlines have not passed. */
    private @Nullable Batch next() {
        Batch batch = null;
        long now = System.nanoTime();
        for (AcquireRequest request = waiting.peek(); request != null; request = waiting.peek()) {
            if (!request.dequeued && request.deadlineNanos - now > 0) {
                if (batch == null) {
                    batch = new Batch(request);
                    inFlight++;
                } else if (!batch.add(request)) {
                    break;
                }
                request.batch = batch;
            }
            waiting.remove();
            if (request.dequeued) {
                cancelled--;
            } else {
                countWaiting(-request.keys.size());
                request.dequeued = true;
            }
        }
        return batch;
    }

    private void countWaiting(int keys) {
        waitingKeys += keys;
        allWaitingKeys.addAndGet(keys);
    }
}
