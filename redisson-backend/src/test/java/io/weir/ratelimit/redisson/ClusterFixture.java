// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A Redis cluster of processes on the loopback: three masters that share all slots evenly, each with as many replicas as asked
 * for. Ends with the JVM at the latest.
 */
public final class ClusterFixture implements AutoCloseable {
    private static final int MASTERS = 3;
    private static final int SLOTS = 16_384;
    private static final Duration FORM_WITHIN = Duration.ofSeconds(30);

    private final TestFolder folder = TestFolder.made();
    private final List<RedisProcess> masters;
    private final List<RedisProcess> replicas;

    private ClusterFixture(int replicasOfEach, String... settings) {
        masters = nodes(MASTERS, settings);
        replicas = nodes(MASTERS * replicasOfEach, settings);
        Runtime.getRuntime().addShutdownHook(new Thread(this::close, "end-cluster"));
        form();
    }

    /** The cluster that tests share, without replicas; never to be stopped. */
    public static ClusterFixture shared() {
        return Shared.FIXTURE;
    }

    /**
     * Starts a cluster and waits until it takes commands on all slots.
     *
     * @param replicasOfEach how many replicas each master has
     * @param settings more arguments for the command line of each node
     * @return the running cluster
     */
    public static ClusterFixture started(int replicasOfEach, String... settings) {
        return new ClusterFixture(replicasOfEach, settings);
    }

    private List<RedisProcess> nodes(int count, String... settings) {
        return Stream.generate(() -> node(settings)).limit(count).toList();
    }

    private RedisProcess node(String... settings) {
        int port = TestPorts.ofNode();
        List<String> arguments = RedisProcess.server(port, settings);
        arguments.addAll(List.of("--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"));
        arguments.addAll(List.of("--dir", folder.inner("node-" + port), "--cluster-node-timeout", "2000"));
        // Else a replica waits for others to copy from its master together.
        arguments.addAll(List.of("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"));
        RedisProcess node = new RedisProcess(port, arguments);
        node.start();
        return node;
    }

    private void form() {
        for (int i = 0; i < MASTERS; i++) {
            try (RedisConnection master = masters.get(i).connect()) {
                master.call("CLUSTER", "SET-CONFIG-EPOCH", i + 1);
                master.call(Stream.concat(
                                Stream.of("CLUSTER", "ADDSLOTS"),
                                IntStream.range(firstSlot(i), firstSlot(i + 1)).boxed())
                        .toArray());
            }
        }
        try (RedisConnection first = masters.get(0).connect()) {
            nodes().skip(1).forEach(node -> first.call("CLUSTER", "MEET", "127.0.0.1", node.port()));
        }
        awaitAll("know each other", "INFO", "cluster_known_nodes:" + nodes().count(), 1);
        // One whose handshake has not ended counts as known, and is forgotten when the node ends now.
        awaitAll("know the master of each slot", "INFO", "cluster_slots_assigned:16384", 1);
        for (int i = 0; i < replicas.size(); i++) {
            try (RedisConnection master = masters.get(i % MASTERS).connect();
                    RedisConnection replica = replicas.get(i).connect()) {
                replica.call("CLUSTER", "REPLICATE", master.text("CLUSTER", "MYID"));
            }
        }
        awaitAll("take commands on all slots", "INFO", "cluster_state:ok", 1);
        for (RedisProcess replica : replicas) {
            try (RedisConnection connection = replica.connect()) {
                Await.until(
                        "a replica has copied its master",
                        FORM_WITHIN,
                        () -> connection.text("INFO", "replication").contains("master_link_status:up"));
            }
        }
        // A replica takes over only from a master that the others know it belongs to.
        awaitAll("know all replicas", "NODES", " slave ", replicas.size());
    }

    private void awaitAll(String what, String subject, String expected, long lines) {
        nodes().forEach(node -> {
            try (RedisConnection connection = node.connect()) {
                Await.until(
                        "nodes " + what,
                        FORM_WITHIN,
                        () -> connection
                                        .text("CLUSTER", subject)
                                        .replace("myself,", "")
                                        .lines()
                                        .filter(line -> line.contains(expected))
                                        .count()
                                == lines);
            }
        });
    }

    private static int firstSlot(int master) {
        return SLOTS * master / MASTERS;
    }

    private Stream<RedisProcess> nodes() {
        return Stream.concat(masters.stream(), replicas.stream());
    }

    /** The addresses of all masters as configuration writes them. */
    public String address() {
        return masters.stream().map(RedisProcess::address).collect(Collectors.joining(", "));
    }

    /** Those that were masters when the cluster was formed. */
    public List<RedisProcess> masters() {
        return masters;
    }

    /** Those that were replicas when the cluster was formed: the first three of each master in order, and so on. */
    public List<RedisProcess> replicas() {
        return replicas;
    }

    /** The master that had the slot of a key when the cluster was formed. */
    public RedisProcess masterOf(String key) {
        long slot = slot(key);
        return masters.get((int)
                IntStream.range(1, MASTERS).filter(i -> firstSlot(i) <= slot).count());
    }

    /** The slot of a key. */
    public long slot(String key) {
        try (RedisConnection any = masters.get(0).connect()) {
            return any.number("CLUSTER", "KEYSLOT", key);
        }
    }

    @Override
    public void close() {
        nodes().forEach(RedisProcess::kill);
        folder.close();
    }

    private static final class Shared {
        static final ClusterFixture FIXTURE = started(0);
    }
}
