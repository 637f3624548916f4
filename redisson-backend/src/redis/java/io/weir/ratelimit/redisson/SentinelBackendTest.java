// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.SentinelFixture;
import io.weir.ratelimit.fixtures.TestFolder;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.AcquireAndRefundContract;
import io.weir.ratelimit.tck.RateLimitBackendContract;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A backend on a master that sentinels name, with the documented configuration, also with parts of the backend contract. */
@Tag("redis")
class SentinelBackendTest {
    private static SentinelFixture sentinel;
    private static TestFolder folder;
    private static ContractBackend fixture;

    @BeforeAll
    static void connect() {
        sentinel = SentinelFixture.started();
        folder = TestFolder.create();
        Map<String, String> configured = configured(sentinel, folder);
        for (RedisProcess server : sentinel.servers()) {
            try (RedisConnection connection = server.connect()) {
                // Keys expire by another clock than the contract's, so this script removes their expiry.
                connection.call("ACL", "SETUSER", DocumentedUser.USER, "+persist");
            }
        }
        fixture = ContractBackend.of(configured);
    }

    /** Returns the documented configuration, and creates its user on the servers. */
    static Map<String, String> configured(SentinelFixture sentinels, TestFolder folder) {
        for (RedisProcess server : sentinels.servers()) {
            try (RedisConnection connection = server.connect()) {
                connection.call((Object[]) DocumentedUser.line().split(" "));
            }
        }
        String yaml = RedisPage.sample(
                "sentinelServersConfig",
                Map.of(
                        "${REDIS_PASSWORD}", DocumentedUser.PASSWORD,
                        "masterName: limits", "masterName: " + SentinelFixture.NAME,
                        "redis://sentinel-1.internal:26379",
                                sentinels.sentinels().get(0).address(),
                        "redis://sentinel-2.internal:26379",
                                sentinels.sentinels().get(1).address(),
                        "redis://sentinel-3.internal:26379",
                                sentinels.sentinels().get(2).address()));
        return Map.of(RedisSettings.CONFIG, folder.file("redisson.yaml", yaml));
    }

    @AfterAll
    static void disconnect() {
        fixture.close();
        folder.close();
        sentinel.close();
    }

    @Test
    void neverCallsTheReplica() {
        Charge charge = TestBackend.charge("k.a", 1, FaultCalls.LIMIT);
        // This backend uses Redis's clock.
        RateLimitBackend backend = fixture.backend(() -> 0);
        backend.acquire(List.of(charge));
        backend.peek(List.of(charge));
        try (RedisConnection replica = sentinel.replica().connect();
                RedisConnection master = sentinel.master().connect()) {
            assertThat(master.calls("evalsha")).isPositive();
            assertThat(replica.calls("evalsha")).isZero();
            assertThat(replica.text("CLIENT", "LIST")
                            .lines()
                            .filter(line -> line.contains("user=" + DocumentedUser.USER)))
                    .isEmpty();
        }
    }

    @Nested
    @Tag("ci")
    final class AcquireAndRefund extends AcquireAndRefundContract {
        @Override
        protected RateLimitBackend backend(TimeSource time) {
            return fixture.backend(time);
        }
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
