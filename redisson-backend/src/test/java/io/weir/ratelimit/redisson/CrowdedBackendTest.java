// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RateLimitBackendContract;
import io.weir.ratelimit.spi.TimeSource;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract of all stores with 256 other checks always under way: its own checks travel in flights with those. */
final class CrowdedBackendTest extends RateLimitBackendContract {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final int MEMBERS = 256;
    private static final int LEAST_COMPANY = 4;

    private static TestStore store;
    private static RedisClient redis;
    private static RedisConnection watch;
    private static long callsBefore;
    private static long decided;

    private Crowd crowd;

    @BeforeAll
    static void connect() {
        store = TestStore.on(RedisFixture.shared().address());
        redis = new RedisClient(() -> UnexpiringClient.of(store.client()), false, store.namespace(), DEADLINE);
        watch = RedisFixture.shared().connect();
        callsBefore = watch.calls("evalsha");
        decided = 0;
    }

    @AfterAll
    static void disconnect() {
        try {
            long calls = watch.calls("evalsha") - callsBefore;
            System.out.printf(
                    "%d decisions for the crowd, %d calls to Redis for it and the contract%n", decided, calls);
            assertThat(decided / calls).as("checks of the crowd per call").isGreaterThanOrEqualTo(LEAST_COMPANY);
        } finally {
            watch.close();
            redis.close();
            store.close();
        }
    }

    @Override
    protected RateLimitBackend backend(TimeSource time) {
        RateLimitBackend backend = new RedissonBackend(redis, store.namespace(), DEADLINE, time);
        // Waits for the connection, which asynchronous calls do not.
        backend.peek(TestStore.charge("k.ready", 1, FaultCalls.LIMIT));
        crowd = Crowd.around(backend, MEMBERS);
        return backend;
    }

    @Override
    protected void clean(RateLimitBackend used) {
        try {
            decided += crowd.sentHome();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
