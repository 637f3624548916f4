// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.fixtures.VirtualThreads;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.RateLimitBackendContract;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** The backend contract on a real Redis with callers on virtual threads. */
@Tag("redis")
@Tag("threads")
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads need Java 21")
final class BackendOnVirtualThreadsTest extends RateLimitBackendContract {
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
        return VirtualThreads.calling(RateLimitBackend.class, fixture.backend(time));
    }
}
