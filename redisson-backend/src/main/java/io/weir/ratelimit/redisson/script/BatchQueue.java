// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one slot that wait for the next batch, and the batches in flight. A lock guards both. It is held while a batch
 * is filled, and never while a batch is sent or completed.
 */
public final class BatchQueue {
    /**
     * If the network takes less, one batch is in flight: a second one makes both smaller, and costs more processor time than it saves. If
     * it takes longer, two are: requests would wait for a reply while Redis is idle.
     */
    private static final long NEAR_NANOS = TimeUnit.MICROSECONDS.toNanos(125);

    /** After this time without its reply, a second batch may be in flight to a near Redis too: the reply may never come. */
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** The number of keys that may wait in all queues: they take memory, and time of Redis. */
    public static final int MAX_WAITING_KEYS = 8_192;

    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<AcquireRequest> waiting = new ArrayDeque<>();
    private final AtomicInteger allWaitingKeys;
    private final LongSupplier nanoTime;
    private final RoundTrips roundTrips = new RoundTrips();
    private int waitingKeys;
    private int cancelled;

    /** The batch in flight, the earlier one of two; null if none is. */
    private @Nullable Batch older;

    /** The later one of two batches in flight; null if there are not two. */
    private @Nullable Batch newer;

    /** Creates a queue that counts the waiting keys of this and other queues. */
    public BatchQueue(AtomicInteger allWaitingKeys, LongSupplier nanoTime) {
        this.allWaitingKeys = allWaitingKeys;
        this.nanoTime = nanoTime;
    }

    /**
     * Adds a request. Returns the batch that is to be sent at once, null if there is none. Throws a {@link BackendException} if too many
     * keys wait already.
     */
    @Nullable
    public Batch add(AcquireRequest request) {
        lock.lock();
        try {
            request.queue = this;
            long now = nanoTime.getAsLong();
            boolean hasPlace = hasPlace(now);
            if (hasPlace && waitingKeys == 0) {
                request.batch = take(new Batch(request), now);
                return request.batch;
            }
            if (!hasPlace && allWaitingKeys.get() + request.keys.size() > MAX_WAITING_KEYS) {
                request.dequeued = true;
                throw new BackendException(
                        Reason.FULL, "Too many requests wait for Redis. The request was not sent.", null);
            }
            waiting.add(request);
            countWaiting(request.keys.size());
            return hasPlace ? next(now) : null;
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
            boolean timedOut =
                    isInFlight(batch) && !batch.timedOut && request.deadlineNanos - nanoTime.getAsLong() <= 0;
            batch.timedOut |= timedOut;
            return timedOut;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Releases the place of a batch, unless that has happened before. Returns the batch that is to be sent next, null if there is none.
     *
     * @param replied whether Redis has replied to the batch
     */
    @Nullable
    public Batch release(Batch batch, boolean replied) {
        lock.lock();
        try {
            if (!isInFlight(batch)) {
                return null;
            }
            older = batch == older ? newer : older;
            newer = null;
            long now = nanoTime.getAsLong();
            if (replied) {
                roundTrips.add(batch.size(), now - batch.takenNanos);
            }
            return hasPlace(now) ? next(now) : null;
        } finally {
            lock.unlock();
        }
    }

    /** Fills a batch with the requests that wait and whose deadlines have not passed. */
    private @Nullable Batch next(long now) {
        Batch batch = null;
        int maxRequests = roundTrips.maxRequests();
        for (AcquireRequest request = waiting.peek(); request != null; request = waiting.peek()) {
            if (!request.dequeued && request.deadlineNanos - now > 0) {
                if (batch == null) {
                    batch = take(new Batch(request), now);
                } else if (batch.size() == maxRequests || !batch.add(request)) {
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

    private boolean hasPlace(long now) {
        return older == null
                || (newer == null
                        && (roundTrips.shortestNanos() >= NEAR_NANOS || now - older.takenNanos >= SLOW_NANOS));
    }

    private boolean isInFlight(Batch batch) {
        return batch == older || batch == newer;
    }

    private Batch take(Batch batch, long now) {
        batch.takenNanos = now;
        if (older == null) {
            older = batch;
        } else {
            newer = batch;
        }
        return batch;
    }

    private void countWaiting(int keys) {
        waitingKeys += keys;
        allWaitingKeys.addAndGet(keys);
    }
}
