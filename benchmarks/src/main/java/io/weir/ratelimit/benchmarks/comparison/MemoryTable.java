// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.github.bucket4j.distributed.proxy.optimization.Optimization;
import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.benchmarks.report.Trial;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Function;
import org.redisson.Redisson;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/**
 * A table of the memory of Redis per key: the increase of {@code used_memory} by all keys, and {@code MEMORY USAGE} of one key. The
 * increase includes the hash tables. Each contender uses a separate Redis, which is measured without connected clients.
 */
public final class MemoryTable {
    private static final Workload KEYS = new Workload("memory", Trial.or(100_000, 1_000), 1, Workload.UNREACHABLE);
    private static final Workload FIRST = new Workload("first", 1, 1, Workload.UNREACHABLE);
    private static final String NAMESPACE = "default";
    private static final LoadPattern CONCURRENT = new LoadPattern.Asynchronous(128);
    /** The deadline of a call. Each call must succeed, also the first one of a new process. */
    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private interface Factory {
        Contender create(Redisson client, String namespace, Workload workload);
    }

    private final PrintStream out;

    /** Creates a table whose rows are printed as they are measured. */
    public MemoryTable(PrintStream out) {
        this.out = out;
    }

    /** Measures and prints the table. */
    public void print() {
        out.printf(
                Locale.ROOT,
                "%,d keys; stored key %d bytes, policy %d bytes, namespace %d bytes%n%n",
                KEYS.keys(),
                Workload.storedKey(0).length(),
                Weir.POLICY.length(),
                NAMESPACE.length());
        out.println(
                "| memory per key | bytes of `used_memory` | `MEMORY USAGE` of one after 1 hit | after 100 | after 1,000 |");
        out.println("|---|---|---|---|---|");
        for (Algorithm algorithm : Algorithm.values()) {
            row(
                    "Weir, " + algorithm.configName(),
                    (client, namespace, workload) -> Weir.of(client, namespace, workload, algorithm, DEADLINE));
        }
        row(
                "Weir, three limits of a policy, sliding-window",
                (client, namespace, workload) -> Weir.of(
                        client,
                        namespace,
                        new Workload(workload.name(), workload.keys(), 3, workload.permits()),
                        Algorithm.SLIDING_WINDOW,
                        DEADLINE));
        row("Redisson `RRateLimiter`", RedissonLimiter::new);
        row(
                "Bucket4j",
                (client, namespace, workload) -> new Bucket4j(
                        "Bucket4j", Bucket4j.on(client), Optimization.NONE_OPTIMIZED, namespace, workload));
    }

    private void row(String name, Factory factory) {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect()) {
            try {
                // The first key loads the scripts, which do not count.
                use(process, client -> factory.create(client, "first", FIRST), contender -> contender.decide(0));
            } catch (RuntimeException e) {
                out.println("| " + name + " | skipped: " + e.getMessage() + " | - | - | - |");
                return;
            }
            long before = usedMemory(redis);
            use(process, client -> factory.create(client, NAMESPACE, KEYS), MemoryTable::useAllKeys);
            double perKey = (double) (usedMemory(redis) - before) / KEYS.keys();
            out.printf(Locale.ROOT, "| %s | %,.0f | %,d |", name, perKey, usage(redis));
            use(process, client -> factory.create(client, NAMESPACE, KEYS), contender -> {
                hit(contender, 99);
                out.printf(Locale.ROOT, " %,d |", usage(redis));
                hit(contender, 900);
                out.printf(Locale.ROOT, " %,d |%n", usage(redis));
            });
        }
    }

    private static void use(RedisProcess process, Function<Redisson, Contender> factory, Consumer<Contender> action) {
        Config config = new Config().setCodec(ByteArrayCodec.INSTANCE);
        config.useSingleServer().setAddress(process.address());
        Redisson client = (Redisson) Redisson.create(config);
        try (Contender contender = factory.apply(client)) {
            action.accept(contender);
        } finally {
            client.shutdown();
        }
    }

    private static void useAllKeys(Contender contender) {
        MeasuredContender measured = new MeasuredContender(contender, KEYS, DEADLINE);
        CONCURRENT.run(measured, () -> measured.started() < KEYS.keys());
        if (measured.failed() > 0) {
            throw new IllegalStateException(measured.failed() + " failed, the first with " + measured.firstFailure());
        }
    }

    private static void hit(Contender contender, int times) {
        for (int i = 0; i < times; i++) {
            contender.decide(0);
        }
    }

    /** Returns the used memory of a Redis as soon as it has no other connection. */
    static long usedMemory(RedisConnection redis) {
        Await.until(
                "only this connection remains",
                TIMEOUT,
                () -> RedisUsage.field(redis.text("INFO", "clients"), "connected_clients")
                        .equals("1"));
        return Long.parseLong(RedisUsage.field(redis.text("INFO", "memory"), "used_memory"));
    }

    /** Returns the memory of all Redis keys of the first stored key. */
    private static long usage(RedisConnection redis) {
        return redis.keys("*" + NAMESPACE + ":" + Workload.storedKey(0) + "*").stream()
                .mapToLong(key -> redis.number("MEMORY", "USAGE", key, "SAMPLES", 0))
                .sum();
    }
}
