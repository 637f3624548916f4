// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.redisson.RedissonBackend;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/** The backends of a test class on one Redis. Each has a namespace of its own, so it begins without state. */
final class RedisBackends implements Supplier<RateLimitBackend> {
    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final RedissonClient client;
    private final Duration deadline;
    private @Nullable RedissonBackend current;

    /** Connects to a Redis. */
    RedisBackends(String address, Duration deadline) {
        // The default codec needs libraries that the Redis backend excludes.
        Config config = new Config().setCodec(ByteArrayCodec.INSTANCE);
        config.useSingleServer().setAddress(address);
        this.client = Redisson.create(config);
        this.deadline = deadline;
    }

    /** Returns a backend without state, and stops the one before. */
    @Override
    public synchronized RateLimitBackend get() {
        stopCurrent();
        RedissonBackend started = new RedissonBackend(client, "test-" + UUID.randomUUID(), deadline);
        current = started;
        long end = System.nanoTime() + START_NANOS;
        while (!started.status().initialized()) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("Redis is not ready after " + Duration.ofNanos(START_NANOS));
            }
            LockSupport.parkNanos(this, STEP_NANOS);
        }
        return started;
    }

    private void stopCurrent() {
        if (current != null) {
            current.close();
        }
    }

    synchronized void stop() {
        stopCurrent();
        client.shutdown();
    }
}
