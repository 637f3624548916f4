// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static io.weir.ratelimit.redisson.client.RedisMessages.MESSAGES;

import io.weir.ratelimit.redisson.client.RedisFailures;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.BatchQueue;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.Charge;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Combines requests that arrive while script calls are in flight: they are sent together, as one batch, when one of those calls
 * completes.
 *
 * <p>Most of the cost of a decision is a system call at each end, a wake-up, and the work of Redis on a connection. All of it is paid per
 * script call. Therefore one call is in flight at a time, or two if Redis is far or a reply is late: see {@link BatchQueue}. Requests that
 * arrive meanwhile wait for the next one, whose cost grows little with its size. There is no timer: a request that finds no call in flight
 * is sent at once. The higher the load, the larger the batches, so that no setting needs to fit the load.
 *
 * <p>Batching does not change decisions:
 *
 * <ul>
 *   <li>The script decides on each request by itself, in order of arrival, on the states that the requests before have left. A key with a
 *       foreign value fails the requests that contain it. A call that fails as a whole fails the requests of its batch only.
 *   <li>A request that is cancelled, or whose deadline passes, before its batch is sent is removed from the queue and spends nothing. A
 *       reply after the deadline is dropped, and what the request has spent stays spent. Its slots are released, also if the reply is
 *       lost.
 *   <li>A call without a reply does not hold up other requests for longer than one deadline: when the first request of its batch times
 *       out, the next batch may be sent.
 *   <li>The number of keys that wait is bounded. A request beyond the bound fails at once.
 *   <li>The keys of a script call are in one slot of a cluster, so each slot has a queue. Without a cluster there is one queue. The calls
 *       of different slots of one master share writes: see {@code MasterWrites}.
 * </ul>
 */
final class Batcher {
    /** Sends a batch to Redis. */
    interface Sender {
        /** Returns the reply of {@code acquire.lua}. */
        CompletableFuture<byte[]> send(Batch batch);
    }

    private final Sender sender;
    private final BackendListener listener;
    private final Breaker breaker;
    private final Consumer<Batch> unanswered;
    private final AtomicInteger waitingKeys = new AtomicInteger();
    private final LongSupplier nanoTime;
    private final ConcurrentHashMap<Integer, BatchQueue> queues = new ConcurrentHashMap<>();

    /** A charge of the latest batch that failed, if there is one. */
    private volatile @Nullable Charge lastFailed;

    /** Whether the failure of the listener was logged. */
    private final AtomicBoolean listenerFailed = new AtomicBoolean();

    /**
     * Creates a batcher. The consumer receives the batches whose reply is lost, which Redis may have decided. The clock is that of the
     * deadlines of requests, in nanoseconds.
     */
    Batcher(
            Sender sender,
            BackendListener listener,
            Breaker breaker,
            Consumer<Batch> unanswered,
            LongSupplier nanoTime) {
        this.unanswered = unanswered;
        this.sender = sender;
        this.listener = listener;
        this.breaker = breaker;
        this.nanoTime = nanoTime;
    }

    /** Sends a request, at once or with the next batch of the slot of its keys, which is -1 without a cluster. */
    void enqueue(AcquireRequest request, int slot) {
        BatchQueue queue = queues.computeIfAbsent(slot, any -> new BatchQueue(waitingKeys, nanoTime));
        Batch first;
        try {
            first = queue.add(request);
        } catch (BackendException full) {
            request.completeExceptionally(full);
            return;
        }
        send(queue, first);
    }

    /**
     * Cancels a request that its caller awaits no longer. If its batch is in flight, another one may be sent, since the reply is late
     * and may never arrive.
     */
    void cancel(AcquireRequest request) {
        BatchQueue queue = request.queue;
        if (queue == null) {
            return;
        }
        Batch batch = queue.remove(request);
        if (batch == null) {
            request.completeExceptionally(
                    new BackendException(Reason.TIMEOUT, "The request was not sent before its deadline.", null));
            return;
        }
        if (queue.timeOut(batch, request)) {
            lastFailed = request.charges.get(0);
            breaker.record(new BackendException(Reason.TIMEOUT, "Redis did not reply before the deadline.", null));
        }
        send(queue, queue.release(batch, false));
    }

    /** Sends a batch, and the next ones as long as they fail at once. */
    private void send(BatchQueue queue, @Nullable Batch first) {
        Batch next = first;
        while (next != null) {
            Batch batch = next;
            next = null;
            notifyListener(() -> listener.onBatch(batch.size(), waitingKeys.get()));
            CompletableFuture<byte[]> reply = send(batch);
            if (reply.isDone()) {
                next = queue.release(batch, !reply.isCompletedExceptionally());
                complete(batch, reply);
            } else {
                CompletionStage<?> replied = reply; // of any type, so that its place is released in any case
                replied.whenComplete((bytes, failure) -> {
                    try {
                        send(queue, queue.release(batch, failure == null));
                    } finally {
                        complete(batch, reply);
                    }
                });
            }
        }
    }

    /** Returns a charge of the latest batch that failed, null if none has failed. */
    @Nullable
    Charge lastFailed() {
        return lastFailed;
    }

    private void notifyListener(Runnable event) {
        try {
            event.run();
        } catch (RuntimeException | LinkageError e) {
            if (listenerFailed.compareAndSet(false, true)) {
                MESSAGES.log(e, "WEIR-413");
            }
        }
    }

    /** Sends a batch, unless the breaker has opened while its requests waited. */
    private CompletableFuture<byte[]> send(Batch batch) {
        try {
            if (breaker.rejectsCalls() && !batch.isProbe()) {
                return CompletableFuture.failedFuture(breaker.openException());
            }
            batch.markSent();
            return sender.send(batch);
        } catch (RuntimeException | Error e) {
            // A batch that is never completed would keep its place, and its requests would wait until their deadline.
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Completes the requests of a batch. One that timed out has been recorded as a failure before. */
    private void complete(Batch batch, CompletableFuture<byte[]> reply) {
        BackendException failure = null;
        try {
            batch.complete(reply.join());
            notifyListener(() -> listener.onReply(batch.durationNanos()));
        } catch (RuntimeException | Error e) {
            failure = RedisFailures.toBackendException(e);
        }
        boolean full = failure != null && failure.reason() == Reason.FULL;
        if (!batch.timedOut && !full) {
            breaker.record(failure);
        }
        if (failure != null) {
            lastFailed = batch.groups().get(0).first().charges.get(0);
            if (failure.reason() == Reason.TIMEOUT || failure.reason() == Reason.CONNECTION) {
                unanswered.accept(batch);
            }
            batch.fail(failure);
        }
    }
}
