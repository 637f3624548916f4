// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisClock;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A Redis that keeps its data on a disk, with a proxy in front of each instance. */
final class SingleRedis implements Servers {
    private final Path data;
    private final Path copy;
    private final RedisClock clock;
    private final RedisProcess redis;
    private final List<FaultProxy> proxies;
    private final AtomicInteger losses = new AtomicInteger();

    /**
     * Starts Redis.
     *
     * @param instances the number of instances
     * @param folder the folder for data
     * @param isStepped whether the clock can be stepped
     */
    SingleRedis(int instances, Path folder, boolean isStepped) {
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
        proxies = Stream.generate(() -> FaultProxy.inFrontOf(redis))
                .limit(instances)
                .toList();
    }

    RedisProcess redis() {
        return redis;
    }

    FaultProxy proxy(int instance) {
        return proxies.get(instance);
    }

    /** Steps the clock of Redis. */
    void step(Duration by) {
        clock.step(by);
    }

    @Override
    public int losses() {
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
        losses.incrementAndGet();
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

    @Override
    public Map<String, String> properties(int instance) {
        return Map.of("ratelimit.redis.address", proxy(instance).address());
    }

    @Override
    public List<RedisProcess> masters() {
        return List.of(redis);
    }

    @Override
    public void close() {
        proxies.forEach(FaultProxy::close);
        redis.close();
        empty(data);
        empty(copy);
    }
}
