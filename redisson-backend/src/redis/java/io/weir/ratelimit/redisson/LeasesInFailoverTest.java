// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Leases of a key whose master fails over to its replica. */
@Tag("fault")
class LeasesInFailoverTest {
    private static final Duration DEADLINE = Duration.ofMillis(500);
    private static final long PERMITS = 10_000_000;
    private static final long LEASE = 100;

    @Test
    void theNewMasterHasChargedAllLeasedPermits() {
        try (ClusterFixture cluster = ClusterFixture.started(1);
                ClusterUnderFault fixture = ClusterUnderFault.on(cluster, DEADLINE);
                ClusterUnderFault other = fixture.another(DEADLINE)) {
            String storedKey = fixture.storedKeys().get(0);
            Charge charge = ClusterUnderFault.leased(storedKey, LEASE, Algorithm.FIXED_WINDOW, PERMITS);
            try (LoadedBackend first = new LoadedBackend(fixture.backend(), charge);
                    LoadedBackend second = new LoadedBackend(other.backend(), charge)) {
                List<LoadedBackend> both = List.of(first, second);
                failOver(cluster.replicas().get(0));
                long before = allowed(both);
                both.forEach(LoadedBackend::awaitSteadyDecisions);
                both.forEach(load -> load.end(DEADLINE));
                assertThat(allowed(both)).as(both.toString()).isGreaterThan(before);
                long failures = first.failures() + second.failures();
                // A manual failover loses nothing: the master waits until its replica has received everything.
                // The reply to a request for permits can be lost, before and during the failover.
                Await.until("only failed calls and lost replies are charged beside the calls", LeasedCalls.SOON, () -> {
                    long spent = fixture.spent(charge);
                    assertThat(spent).as(both.toString()).isGreaterThanOrEqualTo(allowed(both));
                    return spent <= allowed(both) + failures + 4 * LEASE;
                });
                assertThat(allowed(both) + spendTheRest(fixture, charge)).isLessThanOrEqualTo(PERMITS);
            }
        }
    }

    /** Spends all permits that are left, and returns the cost of the allowed calls. */
    private static long spendTheRest(ClusterUnderFault fixture, Charge charge) {
        AtomicLong allowed = new AtomicLong();
        Await.until("the limit is spent", LeasedCalls.SOON, () -> {
            long left = PERMITS - fixture.spent(charge);
            try {
                boolean spends = left > 0
                        && fixture.backend()
                                .acquire(List.of(new Charge(charge.policy(), charge.storedKey(), left)))
                                .allowed();
                allowed.addAndGet(spends ? left : 0);
            } catch (BackendException e) {
                // it is called again
            }
            return left == 0;
        });
        return allowed.get();
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
