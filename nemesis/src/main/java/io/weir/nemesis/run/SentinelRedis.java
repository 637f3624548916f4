// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.SentinelFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/** A master, its replica and three sentinels, to which the instances connect directly. */
final class SentinelRedis implements Servers {
    private static final Duration CHANGED_WITHIN = Duration.ofSeconds(30);

    /** The time for which the replica receives nothing, and the time between two ends of its connection. */
    private static final Duration LAG = Duration.ofMillis(500);

    private static final long BETWEEN_ENDS_MILLIS = 20;

    private final SentinelFixture sentinels = SentinelFixture.started();
    private final String config;
    private RedisProcess master = sentinels.master();
    private RedisProcess replica = sentinels.replica();
    private final AtomicInteger losses = new AtomicInteger();

    SentinelRedis(Path folder) {
        String addresses = sentinels.sentinels().stream()
                .map(sentinel -> "    - " + sentinel.address() + "\n")
                .collect(Collectors.joining());
        // The sample of redis.md.
        String yaml = """
                sentinelServersConfig:
                  masterName: %s
                  sentinelAddresses:
                %s\
                  readMode: MASTER
                  subscriptionMode: MASTER
                  masterConnectionMinimumIdleSize: 8
                  subscriptionConnectionMinimumIdleSize: 0
                  timeout: 1000
                  connectTimeout: 1000
                  pingConnectionInterval: 1000
                  retryAttempts: 0
                """.formatted(SentinelFixture.NAME, addresses);
        try {
            config = Files.writeString(folder.resolve("redisson.yaml"), yaml).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Kills the master after a time in which its replica has received nothing. */
    void killMaster() {
        try (RedisConnection connection = master.connect()) {
            long end = System.nanoTime() + LAG.toNanos();
            while (System.nanoTime() < end) {
                connection.call("CLIENT", "KILL", "TYPE", "replica");
                TimeUnit.MILLISECONDS.sleep(BETWEEN_ENDS_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        losses.incrementAndGet();
        master.kill();
    }

    /** Waits until the sentinels have promoted the replica, and starts the former master as its replica. */
    void awaitFailover() {
        RedisProcess former = master;
        awaitReplication(replica, "role:master");
        losses.incrementAndGet();
        master = replica;
        replica = former;
        replica.start();
        try (RedisConnection connection = replica.connect()) {
            connection.call("REPLICAOF", "127.0.0.1", master.port());
        }
        awaitReplication(replica, "master_link_status:up");
    }

    private static void awaitReplication(RedisProcess server, String expected) {
        Await.until("a server has " + expected, CHANGED_WITHIN, () -> {
            try (RedisConnection connection = server.connect()) {
                return connection.text("INFO", "replication").contains(expected);
            } catch (UncheckedIOException e) {
                return false; // a change of its role closes connections
            }
        });
    }

    @Override
    public Map<String, String> properties(int instance) {
        return Map.of("ratelimit.redis.config", config);
    }

    @Override
    public int losses() {
        return losses.get();
    }

    @Override
    public List<RedisProcess> masters() {
        return List.of(master);
    }

    @Override
    public void close() {
        sentinels.close();
    }
}
