// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.script.AcquireCodec;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.CalendarCodec;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.TimeSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;

/**
 * Sends batches and other operations as script calls. The clock of the scripts is {@link #REDIS_CLOCK} for Redis's own, which probably
 * shows the expected time.
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

    /** Sends an operation, whose argument depends on the clock, and sends it again until the deadline if Redis did not run it. */
    CompletableFuture<byte[]> send(
            Script script, List<String> storedKeys, LongFunction<byte[]> argument, long deadlineNanos) {
        return redis.run(script, List.copyOf(storedKeys), argument.apply(time.micros()), deadlineNanos);
    }
}
