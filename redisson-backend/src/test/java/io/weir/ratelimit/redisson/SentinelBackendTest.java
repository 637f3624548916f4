// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RateLimitBackendContract;
import io.weir.ratelimit.spi.TimeSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The contract of all stores, on a master that sentinels name, configured as the documentation says. */
final class SentinelBackendTest extends RateLimitBackendContract {
    private static SentinelFixture fixture;
    private static TestFolder folder;
    private static ContractStore store;

    @BeforeAll
    static void connect() {
        fixture = SentinelFixture.started();
        folder = TestFolder.made();
        Map<String, String> configured = configured(fixture, folder);
        for (RedisProcess server : fixture.servers()) {
            try (RedisConnection connection = server.connect()) {
                // The contract's clock is not the one that keys expire by, so here the script takes their expiry off.
                connection.call("ACL", "SETUSER", LeastRights.USER, "+persist");
            }
        }
        store = ContractStore.of(configured);
    }

    /** The configuration of the documentation, for sentinels whose servers know its user from then on. */
    static Map<String, String> configured(SentinelFixture fixture, TestFolder folder) {
        for (RedisProcess server : fixture.servers()) {
            try (RedisConnection connection = server.connect()) {
                connection.call((Object[]) LeastRights.line().split(" "));
            }
        }
        String yaml = RedisPage.sample(
                "sentinelServersConfig",
                Map.of(
                        "${REDIS_PASSWORD}", LeastRights.PASSWORD,
                        "masterName: limits", "masterName: " + SentinelFixture.NAME,
                        "redis://sentinel-1.internal:26379",
                                fixture.sentinels().get(0).address(),
                        "redis://sentinel-2.internal:26379",
                                fixture.sentinels().get(1).address(),
                        "redis://sentinel-3.internal:26379",
                                fixture.sentinels().get(2).address()));
        return Map.of(RedisSettings.CONFIG, folder.file("redisson.yaml", yaml));
    }

    @AfterAll
    static void disconnect() {
        store.close();
        folder.close();
        fixture.close();
    }

    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return store.backend(time);
    }

    @Test
    void theReplicaIsNeverAsked() {
        Charge charge = TestStore.charge("k.a", 1, FaultCalls.LIMIT);
        backend().acquire(List.of(charge));
        backend().peek(charge);
        try (RedisConnection replica = fixture.replica().connect();
                RedisConnection master = fixture.master().connect()) {
            assertThat(master.calls("evalsha")).isPositive();
            assertThat(replica.calls("evalsha")).isZero();
            assertThat(replica.text("CLIENT", "LIST").lines().filter(line -> line.contains("user=" + LeastRights.USER)))
                    .isEmpty();
        }
    }
}
