// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * A master, a replica of it and three sentinels that watch them, all of them processes on the loopback. Ends with the JVM at
 * the latest.
 */
public final class SentinelFixture implements AutoCloseable {
    /** What the sentinels call the master. */
    public static final String NAME = "weir";

    private static final int SENTINELS = 3;
    private static final Duration FORM_WITHIN = Duration.ofSeconds(30);

    private final TestFolder folder = TestFolder.made();
    private final RedisProcess master;
    private final RedisProcess replica;
    private final List<RedisProcess> sentinels;

    private SentinelFixture() {
        master = server();
        replica = server("--replicaof", "127.0.0.1", String.valueOf(master.port()));
        // Sentinels learn of replicas from the master as they start, and then only every ten seconds.
        try (RedisConnection connection = master.connect()) {
            Await.until(
                    "the replica has copied the master",
                    FORM_WITHIN,
                    () -> connection.text("INFO", "replication").contains("state=online"));
        }
        sentinels = Stream.generate(this::sentinel).limit(SENTINELS).toList();
        Runtime.getRuntime().addShutdownHook(new Thread(this::close, "end-sentinels"));
        for (RedisProcess sentinel : sentinels) {
            try (RedisConnection connection = sentinel.connect()) {
                Await.until(
                        "a sentinel knows the others and the replica",
                        FORM_WITHIN,
                        () -> connection
                                .text("INFO", "sentinel")
                                .contains("status=ok,address=127.0.0.1:" + master.port() + ",slaves=1,sentinels="
                                        + SENTINELS));
            }
        }
    }

    /** Starts all of them and waits until the sentinels know each other and the replica. */
    public static SentinelFixture started() {
        return new SentinelFixture();
    }

    private RedisProcess server(String... settings) {
        int port = RedisProcess.freePort();
        List<String> arguments = RedisProcess.server(port, settings);
        arguments.addAll(List.of("--dir", folder.inner("server-" + port)));
        arguments.addAll(List.of("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"));
        return started(port, arguments);
    }

    private RedisProcess sentinel() {
        int port = RedisProcess.freePort();
        String file = folder.file("sentinel-" + port + ".conf", """
                        port %d
                        bind 127.0.0.1
                        sentinel monitor %s 127.0.0.1 %d 2
                        sentinel down-after-milliseconds %s 3000
                        sentinel failover-timeout %s 5000
                        """.formatted(port, NAME, master.port(), NAME, NAME));
        return started(port, List.of(file, "--sentinel"));
    }

    private static RedisProcess started(int port, List<String> arguments) {
        RedisProcess process = new RedisProcess(port, arguments);
        process.start();
        return process;
    }

    /** The server that was the master at first. */
    public RedisProcess master() {
        return master;
    }

    /** The server that was the replica at first. */
    public RedisProcess replica() {
        return replica;
    }

    /** Both servers. */
    public List<RedisProcess> servers() {
        return List.of(master, replica);
    }

    /** The sentinels. */
    public List<RedisProcess> sentinels() {
        return sentinels;
    }

    @Override
    public void close() {
        Stream.concat(Stream.of(master, replica), sentinels.stream()).forEach(RedisProcess::kill);
        folder.close();
    }
}
