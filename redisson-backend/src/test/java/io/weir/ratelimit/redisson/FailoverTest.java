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
            try (LoadedStore first = new LoadedStore(store.backend(), fails, stays)) {
                long began = System.nanoTime();
                try (RedisConnection connection = cluster.replicas().get(0).connect()) {
                    connection.call("CLUSTER", "FAILOVER");
                }
                awaitMaster(cluster.replicas().get(0));
                first.awaitSteadyDecisions();
                first.end(DEADLINE);
                // The failover of an operator waits for the replica; that of a dead master cannot.
                for (Charge charge : List.of(fails, stays)) {
                    assertThat(store.spent(charge))
                            .as(first.toString())
                            .isBetween(first.admitted(), first.admitted() + first.failures());
                }
                try (LoadedStore then = new LoadedStore(store.backend(), fails, stays)) {
                    cluster.masters().get(1).kill();
                    awaitMaster(cluster.replicas().get(1));
                    long ended = System.nanoTime();
                    then.awaitSteadyDecisions();
                    then.end(DEADLINE);
                    for (Charge charge : List.of(fails, stays)) {
                        assertThat(store.spent(charge))
                                .as(then.toString())
                                .isPositive()
                                .isLessThanOrEqualTo(
                                        first.admitted() + first.failures() + then.admitted() + then.failures());
                    }
                    FaultTable.add(Fault.CLUSTER_FAILOVER, began, ended, store.spent(stays), first, then);
                }
            }
        }
    }

    private static void awaitMaster(RedisProcess successor) {
        try (RedisConnection connection = successor.connect()) {
            Await.until(
                    "the replica is the master",
                    Duration.ofSeconds(20),
                    () -> connection.text("INFO", "replication").contains("role:master"));
        }
    }
}
