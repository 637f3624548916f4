// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RateLimitBackendContract;
import io.weir.ratelimit.spi.TimeSource;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract of all stores, for a user with the rights that the documentation names. */
final class AclBackendTest extends RateLimitBackendContract {
    private static RedisProcess process;
    private static ContractStore store;

    @BeforeAll
    static void connect() {
        process = RedisProcess.started();
        try (RedisConnection admin = process.connect()) {
            admin.call((Object[]) LeastRights.line().split(" "));
            // The contract's clock is not the one that keys expire by, so here the script takes their expiry off.
            admin.call("ACL", "SETUSER", LeastRights.USER, "+persist");
        }
        store = ContractStore.of(Map.of(RedisSettings.ADDRESS, LeastRights.address(process)));
    }

    @AfterAll
    static void disconnect() {
        store.close();
        process.close();
    }

    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return store.backend(time);
    }
}
