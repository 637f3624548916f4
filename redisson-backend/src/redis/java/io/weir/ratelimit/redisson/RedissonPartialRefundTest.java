// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.PartialRefundContract;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Partial and asynchronous refunds on a real Redis with the clock of the contract. */
@Tag("redis")
final class RedissonPartialRefundTest extends PartialRefundContract {
    private static ContractBackend fixture;

    @BeforeAll
    static void connect() {
        fixture = ContractBackend.of(
                Map.of(RedisSettings.ADDRESS, RedisFixture.shared().address()));
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
