// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.RateLimitBackendContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The backend contract on a real Redis with the clock of the contract. */
@Tag("redis")
final class RedissonBackendTest extends RateLimitBackendContract {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private static TestBackend fixture;
    private static RedisClient redis;

    @BeforeAll
    static void connect() {
        fixture = TestBackend.on(RedisFixture.shared().address());
        redis = new RedisClient(() -> ManualExpiryClient.of(fixture.client()), false, fixture.namespace(), DEADLINE);
    }

    @AfterAll
    static void disconnect() {
        redis.close();
        fixture.close();
    }

    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return new RedissonBackend(redis, fixture.namespace(), DEADLINE, time);
    }
}
