// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RateLimitBackendContract;
import io.weir.ratelimit.spi.TimeSource;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract of all stores, on a cluster of three masters. */
final class ClusterBackendTest extends RateLimitBackendContract {
    private static ContractStore store;

    @BeforeAll
    static void connect() {
        store = ContractStore.of(
                Map.of(RedisSettings.ADDRESS, ClusterFixture.shared().address()));
    }

    @AfterAll
    static void disconnect() {
        store.close();
    }

    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return store.backend(time);
    }
}
