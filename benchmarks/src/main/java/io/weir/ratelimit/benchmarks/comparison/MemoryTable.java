// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.github.bucket4j.distributed.proxy.optimization.Optimization;
import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.redisson.Await;
import io.weir.ratelimit.redisson.RedisConnection;
import io.weir.ratelimit.redisson.RedisProcess;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Function;
import org.redisson.Redisson;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/**
 * How much memory of Redis a limited key takes: what all keys together add to {@code used_memory}, the tables that list them
 * included, and {@code MEMORY USAGE} of what one identity has there. Each contender has a Redis of its own, which is read while
 * no client is connected, so that no buffer of a connection counts.
 */
public final class MemoryTable {
    private static final Workload KEYS = new Workload("memory", 100_000, 1, false);
    private static final Workload FIRST = new Workload("first", 1, 1, false);
    private static final String NAMESPACE = "default";
    private static final Drive MANY_AT_ONCE = new Drive.InFlight(128);
    private static final Duration SOON = Duration.ofSeconds(20);

    private interface Maker {
        Contender make(Redisson client, String namespace, Workload workload);
    }

    private final PrintStream out;

    /** A table whose rows are printed as they are measured. */
    public MemoryTable(PrintStream out) {
        this.out = out;
    }

    /** Measures and prints. */
    public void print() {
        out.printf(
                Locale.ROOT,
                "%,d keys; identity %d bytes, policy %d bytes, namespace %d bytes%n%n",
                KEYS.keys(),
                Workload.identity(0).length(),
                Weir.POLICY.length(),
                NAMESPACE.length());
        out.println(
                "| | bytes per key of `used_memory` | `MEMORY USAGE` of one after 1 hit | after 100 | after 1,000 |");
        out.println("|---|---|---|---|---|");
        for (Algorithm algorithm : Algorithm.values()) {
            row(
                    "Weir, " + algorithm.configName(),
                    (client, namespace, workload) -> Weir.of(client, namespace, workload, algorithm));
        }
        row("Redisson `RRateLimiter`", RedissonLimiter::new);
        row(
                "Bucket4j",
                (client, namespace, workload) -> new Bucket4j(
                        "Bucket4j", Bucket4j.on(client), Optimization.NONE_OPTIMIZED, namespace, workload));
    }

    private void row(String name, Maker maker) {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect()) {
            try {
                // What comes with a first key, scripts above all, is no part of a key.
                use(process, client -> maker.make(client, "first", FIRST), contender -> contender.decide(0));
            } catch (RuntimeException e) {
                out.println("| " + name + " | skipped: " + e.getMessage() + " | - | - | - |");
                return;
            }
            long before = usedMemory(redis);
            use(process, client -> maker.make(client, NAMESPACE, KEYS), MemoryTable::touchAll);
            double perKey = (double) (usedMemory(redis) - before) / KEYS.keys();
            out.printf(Locale.ROOT, "| %s | %,.0f | %,d |", name, perKey, usage(redis));
            use(process, client -> maker.make(client, NAMESPACE, KEYS), contender -> {
                hit(contender, 99);
                out.printf(Locale.ROOT, " %,d |", usage(redis));
                hit(contender, 900);
                out.printf(Locale.ROOT, " %,d |%n", usage(redis));
            });
        }
    }

    private static void use(RedisProcess process, Function<Redisson, Contender> maker, Consumer<Contender> what) {
        Config config = new Config().setCodec(ByteArrayCodec.INSTANCE);
        config.useSingleServer().setAddress(process.address());
        Redisson client = (Redisson) Redisson.create(config);
        try (Contender contender = maker.apply(client)) {
            what.accept(contender);
        } finally {
            client.shutdown();
        }
    }

    private static void touchAll(Contender contender) {
        Entrant entrant = new Entrant(contender, KEYS);
        MANY_AT_ONCE.run(entrant, () -> entrant.turns() < KEYS.keys());
        if (entrant.failed() > 0) {
            throw new IllegalStateException(entrant.failed() + " failed, the first with " + entrant.firstFailure());
        }
    }

    private static void hit(Contender contender, int times) {
        for (int i = 0; i < times; i++) {
            contender.decide(0);
        }
    }

    private static long usedMemory(RedisConnection redis) {
        Await.until(
                "only this connection is left",
                SOON,
                () -> RedisSpending.field(redis.text("INFO", "clients"), "connected_clients")
                        .equals("1"));
        return Long.parseLong(RedisSpending.field(redis.text("INFO", "memory"), "used_memory"));
    }

    /** Of all keys of the first identity, however many a contender has. */
    private static long usage(RedisConnection redis) {
        return redis.keys("*" + NAMESPACE + ":" + Workload.identity(0) + "*").stream()
                .mapToLong(key -> redis.number("MEMORY", "USAGE", key, "SAMPLES", 0))
                .sum();
    }
}
