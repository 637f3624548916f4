// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.AcquireAndRefundContract;
import io.weir.ratelimit.tck.RateLimitBackendContract;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The acquire and refund parts of the backend contract with 256 other calls always in flight, so that its requests share batches with them. */
@Tag("ci")
@Tag("redis")
final class CrowdedBackendTest extends AcquireAndRefundContract {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final int CALLERS = 256;
    private static final int MIN_CALLS_PER_SCRIPT = 4;

    private static TestBackend fixture;
    private static RedisClient redis;
    private static RedisConnection watch;
    private static long callsBefore;
    private static long decided;

    private Crowd crowd;

    @BeforeAll
    static void connect() {
        fixture = TestBackend.on(RedisFixture.shared().address());
        redis = new RedisClient(() -> ManualExpiryClient.of(fixture.client()), false, fixture.namespace(), DEADLINE);
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
            assertThat(decided / calls)
                    .as("calls of the crowd per script")
                    .isGreaterThanOrEqualTo(MIN_CALLS_PER_SCRIPT);
        } finally {
            watch.close();
            redis.close();
            fixture.close();
        }
    }

    @Override
    protected RateLimitBackend backend(TimeSource time) {
        stopCrowd();
        RateLimitBackend backend = new RedissonBackend(redis, fixture.namespace(), DEADLINE, time);
        // A blocking call waits for the connection. Asynchronous ones do not.
        backend.peek(List.of(TestBackend.charge("k.ready", 1, FaultCalls.LIMIT)));
        crowd = Crowd.on(backend, CALLERS);
        return backend;
    }

    @Override
    protected void clean(RateLimitBackend used) {
        stopCrowd();
    }

    private void stopCrowd() {
        if (crowd == null) {
            return;
        }
        try {
            decided += crowd.stop();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        crowd = null;
    }

    @Nested
    @Tag("long")
    final class WholeContract extends RateLimitBackendContract {
        @Override
        protected RateLimitBackend backend(TimeSource time) {
            return CrowdedBackendTest.this.backend(time);
        }
    }
}
