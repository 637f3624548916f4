// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.script.AcquireCodec;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.BlockCall;
import io.weir.ratelimit.redisson.script.CalendarCodec;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.redisson.script.RefundCodec;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.redisson.script.SlotCodec;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.TimeSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Sends batches, refunds, settlements, blocks, and releases of slots as script calls. The clock of the scripts is {@link #REDIS_CLOCK} for
 * Redis's own, which probably shows the expected time.
 */
record ScriptSender(RedisClient redis, TimeSource time, RedisClock expected) implements Batcher.Sender {
    /** Makes the scripts read Redis's clock. */
    static final TimeSource REDIS_CLOCK = () -> 0;

    /** How often a batch with calendar limits is sent. More than twice means that Redis's clock is set again and again. */
    private static final int ATTEMPTS = 3;

    @Override
    public CompletableFuture<byte[]> send(Batch batch) {
        return batch.hasCalendarLimit()
                ? sendWithPeriods(batch, ATTEMPTS)
                : redis.run(
                        Script.ACQUIRE, batch.keys(), AcquireCodec.encode(batch, time.micros()), batch.deadlineNanos());
    }

    /**
     * Sends a batch, and until its deadline sends it again with the periods of Redis's time if nothing was decided because that was in none of
     * the periods.
     */
    private CompletableFuture<byte[]> sendWithPeriods(Batch batch, int attempts) {
        byte[] argument = AcquireCodec.encode(batch, time.micros(), expected.micros());
        return redis.run(Script.ACQUIRE, batch.keys(), argument, batch.deadlineNanos())
                .thenCompose(reply -> {
                    expected.set(CalendarCodec.instant(reply));
                    if (!CalendarCodec.isOutsidePeriods(reply)) {
                        return CompletableFuture.completedFuture(reply);
                    }
                    // After the deadline, another decision has taken the place of this one.
                    if (batch.deadlineNanos() - System.nanoTime() <= 0) {
                        return CompletableFuture.failedFuture(new BackendException(
                                BackendException.Reason.TIMEOUT,
                                "The request was not sent before its deadline.",
                                null));
                    }
                    return attempts > 1
                            ? sendWithPeriods(batch, attempts - 1)
                            : CompletableFuture.failedFuture(new BackendException(
                                    BackendException.Reason.BACKEND_ERROR,
                                    "Redis's clock was in none of the periods of a calendar limit.",
                                    null));
                });
    }

    /** Sends a call about a block, and sends it again until the deadline if Redis did not run it. */
    CompletableFuture<BlockCall.Result> send(BlockCall block, List<String> storedKeys, long deadlineNanos) {
        return redis.run(Script.BLOCK, List.copyOf(storedKeys), block.encode(time.micros()), deadlineNanos)
                .thenApply(BlockCall::decode);
    }

    /** Sends a release or a renewal of slots, and sends it again until the deadline if Redis did not run it. */
    CompletableFuture<byte[]> send(boolean renews, Map<String, List<SlotCodec.Slot>> slots, long deadlineNanos) {
        return redis.run(
                Script.RELEASE,
                List.copyOf(slots.keySet()),
                SlotCodec.encode(renews, slots.values(), time.micros()),
                deadlineNanos);
    }

    /**
     * Sends a refund, with the keys in the order of the charges and their limits. It is sent again until the deadline if Redis did not run
     * it.
     */
    CompletableFuture<Void> send(Refund refund, List<String> storedKeys, long deadlineNanos) {
        return redis.run(
                        Script.REFUND,
                        List.copyOf(storedKeys),
                        RefundCodec.encode(refund, time.micros()),
                        deadlineNanos)
                .thenAccept(reply -> {
                    if (!RefundCodec.decode(reply)) {
                        throw Batch.foreignState();
                    }
                });
    }
}
