// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.PartialGiveBackContract;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Receipts given back in parts and without waiting, on a real Redis with the contract's clock. */
final class RedissonPartialGiveBackTest extends PartialGiveBackContract {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private static TestStore store;
    private static RedisClient redis;

    @BeforeAll
    static void connect() {
        store = TestStore.on(RedisFixture.shared().address());
        redis = new RedisClient(
                () -> UnexpiringClient.of(store.client()), false, store.namespace(), Duration.ofSeconds(20));
    }

    @AfterAll
    static void disconnect() {
        redis.close();
        store.close();
    }

    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return new RedissonBackend(redis, store.namespace(), DEADLINE, time);
    }
}
