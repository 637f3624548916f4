// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A failover of a cluster's master to its replica while its keys are charged. */
@Tag("ci")
@Tag("fault")
class FailoverTest {
    private static final Duration DAY = Duration.ofDays(30);
    private static final Duration DEADLINE = Duration.ofMillis(500);

    @Test
    void findsTheNewMasterUnderLoadAndChargesNoDecisionTwice() {
        try (ClusterFixture cluster = ClusterFixture.started(1);
                ClusterUnderFault fixture = ClusterUnderFault.on(cluster, DEADLINE)) {
            List<String> storedKeys = fixture.storedKeys();
            Charge fails = ClusterUnderFault.charge(storedKeys.get(0), 1, Algorithm.FIXED_WINDOW, 10_000_000, DAY);
            Charge stays = ClusterUnderFault.charge(storedKeys.get(1), 1, Algorithm.FIXED_WINDOW, 10_000_000, DAY);
            try (LoadedBackend first = new LoadedBackend(fixture.backend(), fails, stays)) {
                long began = System.nanoTime();
                try (RedisConnection connection = cluster.replicas().get(0).connect()) {
                    connection.call("CLUSTER", "FAILOVER");
                }
                awaitMaster(cluster.replicas().get(0));
                first.awaitSteadyDecisions();
                first.end(DEADLINE);
                // A manual failover waits for the replica. The failover of a dead master cannot.
                for (Charge charge : List.of(fails, stays)) {
                    assertThat(fixture.spent(charge))
                            .as(first.toString())
                            .isBetween(first.allowed(), first.allowed() + first.failures());
                }
                try (LoadedBackend then = new LoadedBackend(fixture.backend(), fails, stays)) {
                    cluster.masters().get(1).kill();
                    awaitMaster(cluster.replicas().get(1));
                    long ended = System.nanoTime();
                    then.awaitSteadyDecisions();
                    then.end(DEADLINE);
                    for (Charge charge : List.of(fails, stays)) {
                        assertThat(fixture.spent(charge))
                                .as(then.toString())
                                .isPositive()
                                .isLessThanOrEqualTo(
                                        first.allowed() + first.failures() + then.allowed() + then.failures());
                    }
                    FaultTable.add(Fault.CLUSTER_FAILOVER, began, ended, fixture.spent(stays), first, then);
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
