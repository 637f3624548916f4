// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisFailures;
import io.weir.ratelimit.redisson.script.Script;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The calls of Redis that serve operators. While the breaker is open, Redis is not called, and no outcome changes the breaker. A script
 * that Redis has lost is sent again until the deadline.
 */
record FleetCalls(RedisClient redis, Duration deadline, Breaker breaker) {
    /** Runs a script. The failure is a {@link io.weir.ratelimit.spi.BackendException}. */
    CompletableFuture<byte[]> run(Script script, List<Object> keys, byte[] argument) {
        if (breaker.rejectsCalls()) {
            return CompletableFuture.failedFuture(breaker.openException());
        }
        return redis.runAlone(script, keys, argument, System.nanoTime() + deadline.toNanos())
                .exceptionallyCompose(
                        failure -> CompletableFuture.failedFuture(RedisFailures.toBackendException(failure)));
    }

    /**
     * Reads values by one call after the other, so that no call keeps Redis busy for long.
     *
     * @param maxBytes the longest value
     * @param enoughBytes after as many bytes of values, no further call reads any, and the values of the other keys are foreign
     */
    CompletableFuture<FleetValues> values(List<String> keys, int keysPerCall, int maxBytes, long enoughBytes) {
        if (keys.isEmpty() || enoughBytes <= 0) {
            return CompletableFuture.completedFuture(FleetValues.unread(keys.size()));
        }
        List<String> first = keys.subList(0, Math.min(keysPerCall, keys.size()));
        List<String> others = keys.subList(first.size(), keys.size());
        return run(Script.READ, List.copyOf(first), Integer.toString(maxBytes).getBytes(US_ASCII))
                .thenApply(reply -> FleetValues.of(reply, first.size()))
                .thenCompose(found -> values(others, keysPerCall, maxBytes, enoughBytes - found.bytes())
                        .thenApply(found::and));
    }
}
