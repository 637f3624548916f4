// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.nemesis.run.InstanceProcess.Program;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisClock;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A Redis that keeps its data on a disk, and instances with a proxy each in front of it. */
final class Stage implements AutoCloseable {
    private static final Duration ANSWERS_WITHIN = Duration.ofSeconds(20);

    private final Path data;
    private final Path copy;
    private final RedisProcess redis;
    private final List<FaultProxy> proxies = new ArrayList<>();
    private final List<InstanceProcess> instances = new ArrayList<>();
    private final RedisClock clock;
    private final AtomicInteger losses = new AtomicInteger();

    /**
     * Starts Redis and the instances.
     *
     * @param count the number of instances
     * @param properties the properties of their limiters
     * @param isStepped whether the clock of Redis can be stepped
     * @param folder the folder for data and logs
     */
    Stage(
            int count,
            Program program,
            Map<String, String> properties,
            boolean isStepped,
            Path folder,
            Recorder recorder) {
        data = folder.resolve("redis");
        copy = folder.resolve("copy");
        empty(data); // an earlier run in the same folder
        // A log that Redis never rewrites can be copied while Redis runs: it only grows.
        String[] settings = {
            "--dir",
            data.toString(),
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
            "--auto-aof-rewrite-percentage",
            "0"
        };
        clock = new RedisClock(folder.resolve("clock"));
        redis = isStepped ? RedisProcess.started(clock, settings) : RedisProcess.started(settings);
        for (int i = 0; i < count; i++) {
            FaultProxy proxy = FaultProxy.inFrontOf(redis);
            proxies.add(proxy);
            Map<String, String> values = new TreeMap<>(properties);
            values.put("ratelimit.redis.address", proxy.address());
            instances.add(new InstanceProcess(i, program, values, folder, recorder));
        }
        instances.parallelStream().forEach(InstanceProcess::start);
    }

    /** Returns the number of instances. */
    int size() {
        return instances.size();
    }

    RedisProcess redis() {
        return redis;
    }

    FaultProxy proxy(int instance) {
        return proxies.get(instance);
    }

    InstanceProcess instance(int number) {
        return instances.get(number);
    }

    /** Sends a command to Redis. */
    void command(Object... words) {
        try (RedisConnection connection = redis.connect()) {
            connection.call(words);
        }
    }

    /** Steps the clock of Redis. */
    void stepRedis(Duration by) {
        clock.step(by);
    }

    /** Kills Redis. */
    void killRedis() {
        redis.kill();
    }

    /** Returns how often Redis has lost its data. */
    int losses() {
        return losses.get();
    }

    /** Starts Redis again without data. */
    void startEmpty() {
        empty(data);
        losses.incrementAndGet();
        redis.start();
    }

    /** Copies the data of Redis. */
    void keepCopy() {
        empty(copy);
        copy(data, copy);
    }

    /** Starts Redis again with the copy of its data. */
    void startWithCopy() {
        empty(data);
        copy(copy, data);
        redis.start();
    }

    private static void copy(Path from, Path to) {
        try {
            for (Path file : files(from)) {
                Path copied = to.resolve(from.relativize(file).toString());
                Files.createDirectories(copied.getParent());
                Files.copy(file, copied);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void empty(Path folder) {
        try {
            Files.createDirectories(folder);
            for (Path file : files(folder)) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    /** Returns the milliseconds until each key ends. */
    Map<String, Long> timesToLive() {
        Map<String, Long> lives = new TreeMap<>();
        try (RedisConnection connection = redis.connect()) {
            connection.keys("*").forEach(key -> lives.put(key, connection.number("PTTL", key)));
        }
        return lives;
    }

    /** Waits until Redis answers. */
    void awaitRedis() {
        Await.until("Redis answers", ANSWERS_WITHIN, () -> {
            try (RedisConnection connection = redis.connect()) {
                return connection.text("PING").equals("PONG");
            } catch (UncheckedIOException | IllegalStateException e) {
                return false;
            }
        });
    }

    @Override
    public void close() {
        instances.forEach(InstanceProcess::kill);
        proxies.forEach(FaultProxy::close);
        redis.close();
    }
}
