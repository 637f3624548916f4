// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.RedissonBackend;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.redisson.Redisson;

/** The cost of a decision and the memory per key by the number of keys of Redis. Each number of keys has a Redis of its own. */
public final class KeyGrowth {
    private static final List<Integer> KEYS = List.of(1_000, 100_000, 10_000_000);
    private static final List<Integer> QUICK_KEYS = List.of(1_000, 10_000, 100_000);
    private static final PolicyLimits LIMITS = new PolicyLimits(
            "standard", List.of(Limit.of(Algorithm.SLIDING_WINDOW, Workload.UNREACHABLE, Duration.ofHours(1))));
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private static final int KEYS_PER_CALL = 50_000;

    /** A prime that divides none of the numbers of keys, so that successive calls use distant keys, and each key once per cycle. */
    private static final long STRIDE = 7_368_787;

    /** Stores copies of a value under names that differ in eight digits. */
    private static final String COPY = """
            for i = tonumber(ARGV[5]), tonumber(ARGV[6]) do
              redis.call('SET', ARGV[2] .. string.format('%08d', i) .. ARGV[3], ARGV[1], 'PX', ARGV[4])
            end
            """;

    private KeyGrowth() {}

    /** Measures each number of keys and returns the rows. */
    public static List<GrowthRow> measure(GrowthOptions options) {
        List<Filled> all = new ArrayList<>();
        try {
            for (int keys : options.sizes(KEYS, QUICK_KEYS)) {
                all.add(new Filled(keys));
            }
            return rows(all, options);
        } finally {
            all.forEach(Filled::close);
        }
    }

    private static List<GrowthRow> rows(List<Filled> all, GrowthOptions options) {
        String sizes = all.stream()
                .map(filled -> String.format(Locale.ROOT, "%,d", filled.keys))
                .collect(Collectors.joining(" / ", "", " keys on Redis"));
        List<GrowthSeries> series = all.stream().map(Filled::series).toList();
        List<GrowthRow> rows = new ArrayList<>();
        rows.add(new GrowthRow(
                sizes,
                "bytes of `used_memory` per key",
                all.stream().map(filled -> filled.bytesPerKey).toList()));
        for (LoadPattern pattern : List.of(new LoadPattern.Threads(1), new LoadPattern.Asynchronous(256))) {
            String load = pattern instanceof LoadPattern.Threads ? ", one at a time" : ", 256 in flight";
            GrowthSeries.run(series, pattern, options);
            rows.add(GrowthSeries.row(
                    sizes,
                    "processor of Redis per decision" + load + ", µs",
                    series,
                    turn -> turn.weir().cpuMicros()));
            rows.add(GrowthSeries.row(
                    sizes,
                    "processor of Redis per decision" + load + ", × the floor",
                    series,
                    turn -> turn.weir().cpuMicros() / turn.floor().cpuMicros()));
            rows.add(GrowthSeries.row(
                    sizes,
                    "decisions/s" + load + ", × the floor",
                    series,
                    turn -> turn.weir().perSecond() / turn.floor().perSecond()));
        }
        series.forEach(GrowthSeries::close);
        return rows;
    }

    private static List<Charge> charges(int key) {
        return List.of(new Charge(LIMITS, GrowthSeries.storedKey(key), 1));
    }

    /** A Redis with a number of keys. */
    private static final class Filled implements AutoCloseable {
        private final int keys;
        private final RedisProcess process = RedisProcess.started();
        private final RedisConnection redis = process.connect();
        private final double bytesPerKey;
        private final Redisson client;

        Filled(int keys) {
            this.keys = keys;
            // The backend creates the first key, and the others are copies of it.
            decide(0);
            long before = MemoryTable.usedMemory(redis);
            copyFirstKey();
            bytesPerKey = (double) (MemoryTable.usedMemory(redis) - before) / (keys - 1);
            if (decide(keys - 1) != Workload.UNREACHABLE - 2) {
                throw new IllegalStateException("a decision does not count the call of the copied value");
            }
            client = GrowthSeries.client(process);
            System.err.printf(Locale.ROOT, "%,d keys are stored%n", keys);
        }

        GrowthSeries series() {
            return new GrowthSeries(redis, client, keys, key -> charges((int) (key * STRIDE % keys)));
        }

        /** Decides one call and returns the remaining permits. */
        private long decide(int key) {
            Redisson used = GrowthSeries.client(process);
            RedissonBackend backend = new RedissonBackend(used, GrowthSeries.NAMESPACE, DEADLINE);
            try {
                return backend.acquire(charges(key)).quotas().get(0).remaining();
            } finally {
                backend.close();
                used.shutdown();
            }
        }

        private void copyFirstKey() {
            String first = redis.keys("*").iterator().next();
            String digits = String.format(Locale.ROOT, "%08d", 0);
            int at = first.indexOf(digits);
            String script = redis.text("SCRIPT", "LOAD", COPY);
            byte[] value = redis.bytes(first);
            for (int from = 1; from < keys; from += KEYS_PER_CALL) {
                redis.call(
                        "EVALSHA",
                        script,
                        0,
                        value,
                        first.substring(0, at),
                        first.substring(at + digits.length()),
                        redis.number("PTTL", first),
                        from,
                        Math.min(from + KEYS_PER_CALL, keys) - 1);
            }
        }

        @Override
        public void close() {
            client.shutdown();
            redis.close();
            process.close();
        }
    }
}
