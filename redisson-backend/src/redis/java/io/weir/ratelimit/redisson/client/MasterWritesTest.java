// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.ClusterUnderFault;
import io.weir.ratelimit.redisson.script.BatchQueue;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls of many slots of one master, while the master is paused, so that they wait for each other. */
@Tag("fault")
class MasterWritesTest {
    private static final int CALLS = 200;
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Pattern READS = Pattern.compile("total_reads_processed:(\\d+)");

    private static final int MANY = 42_000;

    /** The bound of each master, that of all slots together, and the calls in flight. */
    private static final int MAX_WAITING = 4 * BatchQueue.MAX_WAITING_KEYS + 3 * 2 * 128;

    /** The first two writes have one call each. */
    private static final long MAX_READS = 20;

    @Test
    void callsOfDifferentSlotsLeaveInOneWrite() {
        try (ClusterFixture cluster = patientCluster();
                ClusterUnderFault fixture = ClusterUnderFault.patient(cluster, LONG)) {
            RedisProcess master = cluster.masters().get(0);
            List<Charge> charges = charges(fixture, master);
            decide(fixture, master, charges);
            long before = reads(master);
            decide(fixture, master, charges);
            assertThat(reads(master) - before).as("reads of the master").isLessThan(MAX_READS);
            assertThat(charges).allMatch(charge -> fixture.spent(charge) == 2);
        }
    }

    @Test
    void eachCallWithAnUnknownScriptIsSentAgainOnce() {
        try (ClusterFixture cluster = patientCluster();
                ClusterUnderFault fixture = ClusterUnderFault.patient(cluster, LONG)) {
            RedisProcess master = cluster.masters().get(0);
            List<Charge> charges = charges(fixture, master);
            try (RedisConnection connection = master.connect()) {
                connection.call("SCRIPT", "FLUSH");
            }
            decide(fixture, master, charges);
            assertThat(charges).allMatch(charge -> fixture.spent(charge) == 1);
        }
    }

    @Test
    @Tag("ci")
    void theErrorOfACallConcernsThisCallAlone() {
        try (ClusterFixture cluster = patientCluster();
                ClusterUnderFault fixture = ClusterUnderFault.patient(cluster, LONG)) {
            RedisProcess master = cluster.masters().get(0);
            List<Charge> charges = charges(fixture, master);
            // The cluster has moved the slots of some keys, and the client does not know it yet.
            RedisProcess other = cluster.masters().get(1);
            try (RedisConnection from = master.connect();
                    RedisConnection to = other.connect()) {
                String id = to.text("CLUSTER", "MYID");
                // The start of the backend can have written to one of the slots.
                charges.stream()
                        .map(charge -> cluster.slot(fixture.tag(charge.storedKey())))
                        .filter(slot -> Long.valueOf(0).equals(from.call("CLUSTER", "COUNTKEYSINSLOT", slot)))
                        .limit(CALLS / 4)
                        .forEach(slot -> {
                            to.call("CLUSTER", "SETSLOT", slot, "NODE", id);
                            from.call("CLUSTER", "SETSLOT", slot, "NODE", id);
                        });
            }
            decide(fixture, master, charges);
            assertThat(charges).allMatch(charge -> fixture.spent(charge) == 1);
        }
    }

    /** The batches of a slot bound its own requests, but there are thousands of slots. */
    @Test
    @Tag("ci")
    void boundsTheCallsThatWait() {
        try (ClusterFixture cluster = patientCluster();
                ClusterUnderFault fixture = ClusterUnderFault.patient(cluster, LONG)) {
            cluster.masters().forEach(RedisProcess::pause);
            List<CompletableFuture<Decision>> decisions;
            try {
                decisions = IntStream.range(0, MANY)
                        .mapToObj(i ->
                                ClusterUnderFault.charge("k." + i, 1, Algorithm.FIXED_WINDOW, 10, Duration.ofDays(1)))
                        .map(charge ->
                                fixture.backend().acquireAsync(List.of(charge)).toCompletableFuture())
                        .toList();
            } finally {
                cluster.masters().forEach(RedisProcess::resume);
            }
            List<Reason> failures = decisions.stream()
                    .map(decision -> decision.handle((done, failure) -> failure).join())
                    .filter(Objects::nonNull)
                    .map(failure -> RedisFailures.toBackendException(failure).reason())
                    .toList();
            assertThat(failures).containsOnly(Reason.FULL).hasSizeGreaterThan(MANY - MAX_WAITING);
        }
    }

    /** Starts nodes that wait as long as the calls and the client do, since a busy machine may need seconds to begin all calls. */
    private static ClusterFixture patientCluster() {
        return ClusterFixture.started(0, "--cluster-node-timeout", String.valueOf(LONG.toMillis()));
    }

    /** Returns charges of stored keys on one master. */
    private static List<Charge> charges(ClusterUnderFault fixture, RedisProcess master) {
        return IntStream.range(0, 10 * CALLS)
                .mapToObj(i -> "k." + i)
                .filter(storedKey -> fixture.cluster().masterOf(fixture.tag(storedKey)) == master)
                .limit(CALLS)
                .map(storedKey ->
                        ClusterUnderFault.charge(storedKey, 1, Algorithm.FIXED_WINDOW, 10, Duration.ofDays(1)))
                .toList();
    }

    /** Decides one call of each charge, all of which begin while the master is paused. */
    private static void decide(ClusterUnderFault fixture, RedisProcess master, List<Charge> charges) {
        master.pause();
        List<CompletableFuture<Decision>> decisions;
        try {
            decisions = charges.stream()
                    .map(charge ->
                            fixture.backend().acquireAsync(List.of(charge)).toCompletableFuture())
                    .toList();
        } finally {
            master.resume();
        }
        assertThat(decisions).allMatch(decision -> decision.join().allowed());
    }

    private static long reads(RedisProcess master) {
        try (RedisConnection connection = master.connect()) {
            Matcher reads = READS.matcher(connection.text("INFO", "stats"));
            assertThat(reads.find()).isTrue();
            return Long.parseLong(reads.group(1));
        }
    }
}
