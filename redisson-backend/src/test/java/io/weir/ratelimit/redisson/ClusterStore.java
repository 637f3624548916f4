// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * A store on a cluster, configured as an application's, in a namespace that nobody else uses.
 *
 * @param cluster where
 * @param namespace the namespace
 * @param backend the store, on Redis's clock
 */
record ClusterStore(ClusterFixture cluster, String namespace, RedissonBackend backend) implements AutoCloseable {
    static ClusterStore on(ClusterFixture cluster, Duration deadline) {
        return on(cluster, "test-" + UUID.randomUUID(), deadline);
    }

    private static ClusterStore on(ClusterFixture cluster, String namespace, Duration deadline) {
        RedissonBackend backend = new TestConfig(Map.of(
                        RedisSettings.ADDRESS,
                        cluster.address(),
                        "ratelimit.namespace",
                        namespace,
                        "ratelimit.redis.deadline",
                        deadline.toMillis() + "ms"))
                .started();
        FaultCalls.awaitDecision(backend);
        return new ClusterStore(cluster, namespace, backend);
    }

    /** Another instance, on the same keys. */
    ClusterStore another(Duration deadline) {
        return on(cluster, namespace, deadline);
    }

    /** A charge of a policy with one limit, named after the algorithm. */
    static Charge charge(String identity, long cost, Algorithm algorithm, long permits, Duration window) {
        return new Charge(
                new PolicyLimits(algorithm.configName(), List.of(TestStore.limitOf(algorithm, permits, window))),
                identity,
                cost);
    }

    /** The same with permits that an instance may take ahead. */
    static Charge leased(String identity, long lease, Algorithm algorithm, long permits) {
        Charge charge = charge(identity, 1, algorithm, permits, Duration.ofDays(30));
        return new Charge(charge.policy().withLease(lease), identity, 1);
    }

    /** An identity whose keys are on the first master, one on the second and one on the third. */
    List<String> identities() {
        List<String> found = new ArrayList<>();
        for (RedisProcess master : cluster.masters()) {
            found.add(identityOn(master));
        }
        return found;
    }

    String identityOn(RedisProcess master) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "k." + i)
                .filter(identity -> cluster.masterOf(tag(identity)) == master)
                .findFirst()
                .orElseThrow();
    }

    /** The beginning of all keys of an identity, as far as it says the slot. */
    String tag(String identity) {
        return "weir:1:{" + namespace + ":" + identity + "}";
    }

    /** The stored keys of an identity, wherever they are. */
    Set<String> keys(String identity) {
        Set<String> keys = new TreeSet<>();
        for (RedisProcess master : cluster.masters()) {
            try (RedisConnection connection = master.connect()) {
                keys.addAll(connection.keys(tag(identity) + ":*"));
            }
        }
        return keys;
    }

    /** Permits that are spent under the only limit of a charge. */
    long spent(Charge charge) {
        return FaultCalls.spent(backend, charge);
    }

    /** How often all masters have run a command. */
    long calls(String command) {
        return cluster.masters().stream()
                .mapToLong(master -> calls(master, command))
                .sum();
    }

    static long calls(RedisProcess master, String command) {
        try (RedisConnection connection = master.connect()) {
            return connection.calls(command);
        }
    }

    @Override
    public void close() {
        backend.close();
    }
}
