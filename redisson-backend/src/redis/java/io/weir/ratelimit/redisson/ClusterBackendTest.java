// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.AcquireAndRefundContract;
import io.weir.ratelimit.tck.RateLimitBackendContract;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The acquire, refund and settle parts of the backend contract on a cluster of three masters. The tests with the tag {@code ci} are the whole contract. */
@Tag("redis")
final class ClusterBackendTest extends AcquireAndRefundContract {
    private static ContractBackend fixture;

    @BeforeAll
    static void connect() {
        fixture = ContractBackend.of(
                Map.of(RedisSettings.ADDRESS, ClusterFixture.shared().address()));
    }

    @AfterAll
    static void disconnect() {
        fixture.close();
    }

    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return fixture.backend(time);
    }

    @Nested
    @Tag("ci")
    final class WholeContract extends RateLimitBackendContract {
        @Override
        protected RateLimitBackend backend(TimeSource time) {
            return fixture.backend(time);
        }
    }
}
