// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.TimeSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Sends batches and refunds as script calls.
 *
 * @param redis the client
 * @param time the clock of the scripts, {@link #REDIS_CLOCK} for Redis's own
 */
record ScriptSender(RedisClient redis, TimeSource time) implements Batcher.Sender {
    /** Makes the scripts read Redis's clock. */
    static final TimeSource REDIS_CLOCK = () -> 0;

    @Override
    public CompletableFuture<byte[]> send(Batch batch) {
        return redis.run(Script.ACQUIRE, batch.keys(), ScriptCodec.encode(batch, time.micros()), batch.deadlineNanos());
    }

    /**
     * Sends a refund.
     *
     * @param storedKeys the key of each limit, in the order of the charges and their limits
     * @param deadlineNanos until when it may be sent again if Redis did not run it, as {@link System#nanoTime}
     */
    CompletableFuture<Void> send(Refund refund, List<String> storedKeys, long deadlineNanos) {
        return redis.run(
                        refund.operation() == Refund.Operation.RAISE ? Script.SETTLE : Script.REFUND,
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
