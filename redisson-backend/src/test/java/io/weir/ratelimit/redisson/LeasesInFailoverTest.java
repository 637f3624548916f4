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

/** Leases of a key whose master fails over to its replica. */
@Tag("fault")
class LeasesInFailoverTest {
    private static final Duration DEADLINE = Duration.ofMillis(500);
    private static final long PERMITS = 6_000;
    private static final long LEASE = 100;

    @Test
    void theNewMasterHasChargedAllLeasedPermits() {
        try (ClusterFixture cluster = ClusterFixture.started(1);
                ClusterUnderFault fixture = ClusterUnderFault.on(cluster, DEADLINE);
                ClusterUnderFault other = fixture.another(DEADLINE)) {
            String storedKey = fixture.storedKeys().get(0);
            Charge charge = ClusterUnderFault.leased(storedKey, LEASE, Algorithm.FIXED_WINDOW, PERMITS);
            try (LoadedBackend first = LoadedBackend.beyondTheLimit(fixture.backend(), charge);
                    LoadedBackend second = LoadedBackend.beyondTheLimit(other.backend(), charge)) {
                List<LoadedBackend> both = List.of(first, second);
                both.forEach(LoadedBackend::awaitDecisions);
                assertThat(fixture.spent(charge)).isLessThan(PERMITS / 2);
                failOver(cluster.replicas().get(0));
                long before = allowed(both);
                assertThat(before).isLessThan(PERMITS);
                Await.until(
                        "the limit is spent",
                        Duration.ofSeconds(30),
                        () -> first.rejected() > 200 && second.rejected() > 200);
                both.forEach(LoadedBackend::awaitSteadyDecisions);
                both.forEach(load -> load.end(DEADLINE));
                // A manual failover loses nothing: the master waits until its replica has received everything.
                assertThat(allowed(both))
                        .as(both.toString())
                        .isGreaterThan(before)
                        .isLessThanOrEqualTo(PERMITS);
                long failures = first.failures() + second.failures();
                // The reply to a request for permits can be lost, before and during the failover.
                Await.until("only failed calls and lost replies are charged beside the calls", LeasedCalls.SOON, () -> {
                    long spent = fixture.spent(charge);
                    return spent >= allowed(both) && spent <= allowed(both) + failures + 4 * LEASE;
                });
            }
        }
    }

    private static void failOver(RedisProcess replica) {
        try (RedisConnection connection = replica.connect()) {
            connection.call("CLUSTER", "FAILOVER");
            Await.until(
                    "the replica is the master",
                    Duration.ofSeconds(20),
                    () -> connection.text("INFO", "replication").contains("role:master"));
        }
    }

    private static long allowed(List<LoadedBackend> loads) {
        return loads.stream().mapToLong(LoadedBackend::allowed).sum();
    }
}
