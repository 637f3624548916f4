// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends what is given back, and what is dropped. Nothing here waits. */
final class GiveBacks {
    /** A Redis that is slow must not have the receipts of all calls queue up for it. */
    static final int MOST_IN_THE_AIR = 1_024;

    private final RedisClient redis;
    private final StoredKeys keys;
    private final TimeSource time;
    private final Duration deadline;
    private final @Nullable RefusalMemory memory;
    private final Semaphore places = new Semaphore(MOST_IN_THE_AIR);

    /**
     * On a client.
     *
     * @param deadline how long whoever does not wait is told nothing, and until when what was not run is sent again
     * @param memory must forget keys to which permits come back
     */
    GiveBacks(RedisClient redis, StoredKeys keys, TimeSource time, Duration deadline, @Nullable RefusalMemory memory) {
        this.redis = redis;
        this.keys = keys;
        this.time = time;
        this.deadline = deadline;
        this.memory = memory;
    }

    CompletableFuture<Void> send(GiveBack what) {
        return send(what, System.nanoTime() + deadline.toNanos());
    }

    /** As {@link #send(GiveBack)}, but nothing is sent again from an instant of {@link System#nanoTime} on. */
    CompletableFuture<Void> send(GiveBack what, long untilNanos) {
        List<String> named = keys.of(what.charges());
        forget(named);
        return redis.run(Script.GIVE_BACK, List.copyOf(named), what.argument(time.micros()), untilNanos)
                .whenComplete((reply, failure) -> forget(named))
                .thenAccept(GiveBack::checkReply);
    }

    /** Uses a receipt; completed when all of it is given back. */
    CompletableFuture<Void> send(BackendReceipt receipt) {
        return CompletableFuture.allOf(
                GiveBack.ofReceipt(receipt.use(), charge -> redis.slot(keys.of(charge, 0))).stream()
                        .map(this::send)
                        .toArray(CompletableFuture<?>[]::new));
    }

    /** As {@link #send(BackendReceipt)} for who does not wait: completed within the deadline, and dropped if too many are sent already. */
    CompletableFuture<Void> sendOneOfMany(BackendReceipt receipt) {
        return oneOfMany(() -> send(receipt));
    }

    /** As {@link #send(GiveBack)} for who does not wait. */
    CompletableFuture<Void> sendOneOfMany(GiveBack what) {
        return oneOfMany(() -> send(what));
    }

    private CompletableFuture<Void> oneOfMany(Supplier<CompletableFuture<Void>> send) {
        if (!places.tryAcquire()) {
            return CompletableFuture.failedFuture(
                    new BackendException(Reason.FULL, "too many receipts are being given back already", null));
        }
        CompletableFuture<Void> sent;
        try {
            sent = send.get();
        } catch (RuntimeException e) {
            sent = CompletableFuture.failedFuture(e);
        }
        CompletionStage<Void> over = sent;
        // Its place is free when the client has let go of it, however early its caller was told.
        over.whenComplete((done, failure) -> places.release());
        return sent.copy()
                .orTimeout(deadline.toNanos(), TimeUnit.NANOSECONDS)
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(known(failure)));
    }

    private BackendException known(Throwable failure) {
        Throwable cause = ScriptCall.cause(failure);
        return cause instanceof TimeoutException
                ? new BackendException(
                        Reason.TIMEOUT, "not given back by Redis within " + deadline.toMillis() + " ms", null)
                : RedisClient.failure(cause);
    }

    private void forget(List<String> named) {
        if (memory != null) {
            memory.forget(named);
        }
    }
}
