// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.RateLimitBackendContract;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The backend contract on a cluster of three masters. */
@Tag("redis")
final class ClusterBackendTest extends RateLimitBackendContract {
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
}
