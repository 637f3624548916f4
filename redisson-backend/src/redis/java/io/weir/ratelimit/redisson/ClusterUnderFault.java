// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestFolder;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A backend on a cluster with the configuration of an application and a namespace of its own.
 *
 * @param cluster the cluster
 * @param namespace the namespace
 * @param backend the backend, which uses Redis's clock
 */
public record ClusterUnderFault(ClusterFixture cluster, String namespace, RedissonBackend backend)
        implements AutoCloseable {
    static ClusterUnderFault on(ClusterFixture cluster, Duration deadline) {
        return on(cluster, "test-" + UUID.randomUUID(), deadline);
    }

    /** Connects a backend whose client waits for a reply until the deadline of the call. By default it waits for a second at most. */
    public static ClusterUnderFault patient(ClusterFixture cluster, Duration deadline) {
        String nodes = Stream.of(cluster.address().split(", "))
                .map(address -> "    - \"" + address + "\"\n")
                .collect(Collectors.joining());
        String yaml = "clusterServersConfig:\n  timeout: " + deadline.toMillis() + "\n  nodeAddresses:\n" + nodes;
        try (TestFolder folder = TestFolder.create()) {
            return started(
                    Map.of(RedisSettings.CONFIG, folder.file("redisson.yaml", yaml)),
                    cluster,
                    "test-" + UUID.randomUUID(),
                    deadline);
        }
    }

    private static ClusterUnderFault on(ClusterFixture cluster, String namespace, Duration deadline) {
        return started(Map.of(RedisSettings.ADDRESS, cluster.address()), cluster, namespace, deadline);
    }

    private static ClusterUnderFault started(
            Map<String, String> servers, ClusterFixture cluster, String namespace, Duration deadline) {
        Map<String, String> properties = new HashMap<>(servers);
        properties.put("ratelimit.namespace", namespace);
        properties.put("ratelimit.redis.deadline", deadline.toMillis() + "ms");
        RedissonBackend backend = new TestConfig(properties).started();
        FaultCalls.awaitDecision(backend);
        return new ClusterUnderFault(cluster, namespace, backend);
    }

    /** Returns another instance with the same keys. */
    ClusterUnderFault another(Duration deadline) {
        return on(cluster, namespace, deadline);
    }

    /** Returns a charge of a policy with one limit, whose name is the algorithm. */
    public static Charge charge(String storedKey, long cost, Algorithm algorithm, long permits, Duration window) {
        return new Charge(
                new PolicyLimits(algorithm.configName(), List.of(TestBackend.limitOf(algorithm, permits, window))),
                storedKey,
                cost);
    }

    /** Returns a charge of a policy with leases. */
    static Charge leased(String storedKey, long lease, Algorithm algorithm, long permits) {
        Charge charge = charge(storedKey, 1, algorithm, permits, Duration.ofDays(30));
        return new Charge(charge.policy().withLease(lease), storedKey, 1);
    }

    /** Returns a stored key on each of the three masters. */
    List<String> storedKeys() {
        List<String> found = new ArrayList<>();
        for (RedisProcess master : cluster.masters()) {
            found.add(storedKeyOn(master));
        }
        return found;
    }

    String storedKeyOn(RedisProcess master) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "k." + i)
                .filter(storedKey -> cluster.masterOf(tag(storedKey)) == master)
                .findFirst()
                .orElseThrow();
    }

    /** Returns the prefix of all keys of a stored key, which determines the slot. */
    public String tag(String storedKey) {
        return "weir:2:{" + namespace + ":" + storedKey + "}";
    }

    /** Returns all keys of a stored key, on all masters. */
    Set<String> keys(String storedKey) {
        Set<String> keys = new TreeSet<>();
        for (RedisProcess master : cluster.masters()) {
            try (RedisConnection connection = master.connect()) {
                keys.addAll(connection.keys(tag(storedKey) + ":*"));
            }
        }
        return keys;
    }

    /** Returns the spent permits of the only limit of a charge. */
    public long spent(Charge charge) {
        return FaultCalls.spent(backend, charge);
    }

    /** Returns the number of times that all masters have run a command. */
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
