// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Permits taken ahead of a key whose master gives way to its replica. */
class LeasesInFailoverTest {
    private static final Duration DEADLINE = Duration.ofMillis(500);
    private static final long PERMITS = 6_000;
    private static final long LEASE = 100;

    @Test
    void aReplicaThatTakesOverKnowsOfAllPermitsThatAreTakenAhead() {
        try (ClusterFixture cluster = ClusterFixture.started(1);
                ClusterStore store = ClusterStore.on(cluster, DEADLINE);
                ClusterStore other = store.another(DEADLINE)) {
            String identity = store.identities().get(0);
            Charge charge = ClusterStore.leased(identity, LEASE, Algorithm.FIXED_WINDOW, PERMITS);
            try (LoadedStore first = LoadedStore.beyondTheLimit(store.backend(), charge);
                    LoadedStore second = LoadedStore.beyondTheLimit(other.backend(), charge)) {
                List<LoadedStore> both = List.of(first, second);
                both.forEach(LoadedStore::awaitDecisions);
                assertThat(store.spent(charge)).isLessThan(PERMITS / 2);
                takeOver(cluster.replicas().get(0));
                long before = admitted(both);
                assertThat(before).isLessThan(PERMITS);
                Await.until(
                        "the limit is spent",
                        Duration.ofSeconds(30),
                        () -> first.refused() > 200 && second.refused() > 200);
                both.forEach(LoadedStore::awaitSteadyDecisions);
                both.forEach(load -> load.end(DEADLINE));
                // A manual failover forgets nothing: the master waits until its replica has received all.
                assertThat(admitted(both))
                        .as(both.toString())
                        .isGreaterThan(before)
                        .isLessThanOrEqualTo(PERMITS);
                long failures = first.failures() + second.failures();
                // The answer to a request for permits can be lost on the way, before the failover and in it.
                Await.until("unspent permits are back", LeasedCalls.SOON, () -> {
                    long spent = store.spent(charge);
                    return spent >= admitted(both) && spent <= admitted(both) + failures + 4 * LEASE;
                });
            }
        }
    }

    private static void takeOver(RedisProcess replica) {
        try (RedisConnection connection = replica.connect()) {
            connection.call("CLUSTER", "FAILOVER");
            Await.until(
                    "the replica is the master",
                    Duration.ofSeconds(20),
                    () -> connection.text("INFO", "replication").contains("role:master"));
        }
    }

    private static long admitted(List<LoadedStore> loads) {
        return loads.stream().mapToLong(LoadedStore::admitted).sum();
    }
}
