// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.nemesis.run.InstanceProcess.Program;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The servers of Redis and the instances of a run. */
final class Stage implements AutoCloseable {
    private static final Duration ANSWERS_WITHIN = Duration.ofSeconds(20);

    private final Servers servers;
    private final List<InstanceProcess> instances = new ArrayList<>();

    /**
     * Starts the instances.
     *
     * @param servers the running servers, which this object stops
     * @param programs the program of each instance
     * @param properties the properties of their limiters
     * @param folder the folder for logs
     */
    Stage(Servers servers, List<Program> programs, Map<String, String> properties, Path folder, Recorder recorder) {
        this.servers = servers;
        for (int i = 0; i < programs.size(); i++) {
            Map<String, String> values = new TreeMap<>(properties);
            values.putAll(servers.properties(i));
            instances.add(new InstanceProcess(i, programs.get(i), values, folder, recorder));
        }
        instances.parallelStream().forEach(InstanceProcess::start);
    }

    /** Returns the number of instances. */
    int size() {
        return instances.size();
    }

    InstanceProcess instance(int number) {
        return instances.get(number);
    }

    SingleRedis single() {
        return (SingleRedis) servers;
    }

    SentinelRedis sentinel() {
        return (SentinelRedis) servers;
    }

    ClusterRedis cluster() {
        return (ClusterRedis) servers;
    }

    /** Returns how often Redis has lost data. */
    int losses() {
        return servers.losses();
    }

    /** Sends a command to all masters. */
    void command(Object... words) {
        for (RedisProcess master : servers.masters()) {
            try (RedisConnection connection = master.connect()) {
                connection.call(words);
            }
        }
    }

    /** Returns the milliseconds until each key ends. */
    Map<String, Long> timesToLive() {
        Map<String, Long> lives = new TreeMap<>();
        for (RedisProcess master : servers.masters()) {
            try (RedisConnection connection = master.connect()) {
                connection.keys("*").forEach(key -> lives.put(key, connection.number("PTTL", key)));
            }
        }
        return lives;
    }

    /** Waits until Redis answers. */
    void awaitRedis() {
        Await.until("Redis answers", ANSWERS_WITHIN, () -> {
            try {
                command("PING");
                return true;
            } catch (UncheckedIOException | IllegalStateException e) {
                return false;
            }
        });
    }

    @Override
    public void close() {
        instances.forEach(InstanceProcess::kill);
        servers.close();
    }
}
