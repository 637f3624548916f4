// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A replica that takes over from a master of a cluster while its keys are charged. */
class FailoverTest {
    private static final Duration DAY = Duration.ofDays(30);
    private static final Duration DEADLINE = Duration.ofMillis(500);

    @Test
    void aReplicaThatTakesOverUnderLoadIsFoundAndNoDecisionIsChargedTwice() {
        try (ClusterFixture cluster = ClusterFixture.started(1);
                ClusterStore store = ClusterStore.on(cluster, DEADLINE)) {
            List<String> identities = store.identities();
            Charge fails = ClusterStore.charge(identities.get(0), 1, Algorithm.FIXED_WINDOW, 10_000_000, DAY);
            Charge stays = ClusterStore.charge(identities.get(1), 1, Algorithm.FIXED_WINDOW, 10_000_000, DAY);
            try (LoadedStore both = new LoadedStore(store.backend(), fails, stays)) {
                long began = System.nanoTime();
                RedisProcess successor = cluster.replicas().get(0);
                try (RedisConnection connection = successor.connect()) {
                    connection.call("CLUSTER", "FAILOVER");
                    Await.until(
                            "the replica is the master",
                            Duration.ofSeconds(20),
                            () -> connection.text("INFO", "replication").contains("role:master"));
                }
                both.awaitDecisions();
                // The failover of an operator waits for the replica; that of a dead master cannot.
                successor = cluster.replicas().get(1);
                cluster.masters().get(1).kill();
                try (RedisConnection connection = successor.connect()) {
                    Await.until(
                            "the other replica is the master",
                            Duration.ofSeconds(20),
                            () -> connection.text("INFO", "replication").contains("role:master"));
                }
                long ended = System.nanoTime();
                both.awaitSteadyDecisions();
                both.end(DEADLINE);
                for (Charge charge : List.of(fails, stays)) {
                    assertThat(store.spent(charge))
                            .as(both.toString())
                            .isPositive()
                            .isLessThanOrEqualTo(both.admitted() + both.failures());
                }
                FaultTable.add(Fault.CLUSTER_FAILOVER, began, ended, store.spent(stays), both);
            }
        }
    }
}
