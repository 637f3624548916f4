// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.PartialGiveBackContract;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Receipts given back in parts and without waiting, on a real Redis with the contract's clock. */
final class RedissonPartialGiveBackTest extends PartialGiveBackContract {
    private static ContractStore store;

    @BeforeAll
    static void connect() {
        store = ContractStore.of(
                Map.of(RedisSettings.ADDRESS, RedisFixture.shared().address()));
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
