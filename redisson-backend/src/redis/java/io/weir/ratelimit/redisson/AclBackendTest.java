// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
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

/** The acquire and refund parts of the backend contract for a user with the documented permissions. */
@Tag("redis")
final class AclBackendTest extends AcquireAndRefundContract {
    private static RedisProcess process;
    private static ContractBackend fixture;

    @BeforeAll
    static void connect() {
        process = RedisProcess.started();
        try (RedisConnection admin = process.connect()) {
            admin.call((Object[]) DocumentedUser.line().split(" "));
        }
        fixture = ContractBackend.of(Map.of(RedisSettings.ADDRESS, DocumentedUser.address(process)));
    }

    @AfterAll
    static void disconnect() {
        fixture.close();
        process.close();
    }

    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return fixture.backend(time);
    }

    @Nested
    @Tag("long")
    final class WholeContract extends RateLimitBackendContract {
        @Override
        protected RateLimitBackend backend(TimeSource time) {
            return fixture.backend(time);
        }
    }
}
