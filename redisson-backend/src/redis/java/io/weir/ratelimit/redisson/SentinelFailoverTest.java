// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.SentinelFixture;
import io.weir.ratelimit.fixtures.TestFolder;
import io.weir.ratelimit.spi.Charge;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A master that sentinels replace while its keys are charged. */
@Tag("ci")
@Tag("fault")
class SentinelFailoverTest {
    private static final Duration DEADLINE = Duration.ofMillis(500);
    private static final Charge CHARGE =
            ClusterUnderFault.charge("k.failover", 1, Algorithm.FIXED_WINDOW, 10_000_000, Duration.ofDays(30));

    @Test
    void followsAManualFailoverAndAFailoverOfADeadMaster() {
        try (SentinelFixture sentinels = SentinelFixture.started();
                TestFolder folder = TestFolder.create()) {
            Map<String, String> configured = new HashMap<>(SentinelBackendTest.configured(sentinels, folder));
            configured.put("ratelimit.redis.deadline", DEADLINE.toMillis() + "ms");
            RedissonBackend backend = new TestConfig(configured).started();
            try {
                FaultCalls.awaitDecision(backend);
                try (LoadedBackend load = new LoadedBackend(backend, CHARGE)) {
                    long began = System.nanoTime();
                    try (RedisConnection sentinel = sentinels.sentinels().get(0).connect()) {
                        sentinel.call("SENTINEL", "FAILOVER", SentinelFixture.NAME);
                    }
                    awaitMaster(sentinels.replica());
                    load.awaitDecisions();
                    Await.until(
                            "the former master has copied the new one",
                            Duration.ofSeconds(30),
                            () -> replication(sentinels.master()).contains("master_link_status:up"));
                    sentinels.replica().kill();
                    awaitMaster(sentinels.master());
                    long ended = System.nanoTime();
                    load.awaitSteadyDecisions();
                    load.end(DEADLINE);
                    long spent = FaultCalls.spent(backend, CHARGE);
                    assertThat(spent)
                            .as(load.toString())
                            .isPositive()
                            .isLessThanOrEqualTo(load.allowed() + load.failures());
                    FaultTable.add(Fault.SENTINEL_FAILOVER, began, ended, spent, load);
                }
            } finally {
                backend.close();
            }
        }
    }

    private static void awaitMaster(RedisProcess server) {
        Await.until(
                "the other server is the master",
                Duration.ofSeconds(30),
                () -> replication(server).contains("role:master"));
    }

    /** Returns the role of a server; empty while the sentinel closes its connections to change the role. */
    private static String replication(RedisProcess server) {
        try (RedisConnection connection = server.connect()) {
            return connection.text("INFO", "replication");
        } catch (UncheckedIOException e) {
            return "";
        }
    }
}
