// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.benchmarks.report.Table;
import io.weir.ratelimit.benchmarks.report.Trial;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireCodec;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A program that compares the sliding log as one packed string, by {@code acquire.lua}, with a sorted set in its usual form. Each log is
 * full: an allowed call removes the oldest entry and adds one. Rounds of both forms alternate, so that other load affects both alike.
 */
public final class SlidingLogCost {
    private static final int ROUNDS = Trial.or(21, 1);
    private static final Duration WINDOW = Duration.ofHours(1);
    private static final long START_MICROS = 1_700_000_000_000_000L;

    /** An entry per call, removed by its time. The member needs a unique part, because two calls can have one time. */
    private static final String SORTED_SET = """
            local now, window, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
            redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
            local count = redis.call('ZCARD', KEYS[1])
            if count < limit then
              redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1] .. '-' .. ARGV[4])
              redis.call('PEXPIRE', KEYS[1], window / 1000)
              return {1, limit - count - 1}
            end
            return {0, 0, redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]}
            """;

    private final RedisConnection redis;

    private SlidingLogCost(RedisConnection redis) {
        this.redis = redis;
    }

    /** One form of the log with a number of entries. */
    private abstract static class Log {
        final int entries;
        private long calls;

        Log(int entries) {
            this.entries = entries;
        }

        /** Calls the script at an instant, and returns whether the call was allowed. */
        abstract boolean call(long nowMicros);

        abstract String key();

        private void call(boolean allowed) {
            calls += allowed ? 1 : 0;
            long distance = TimeUnit.SECONDS.toMicros(WINDOW.toSeconds()) / entries;
            if (call(START_MICROS + calls * distance + (allowed ? 0 : distance / 2)) != allowed) {
                throw new IllegalStateException(this + " has not " + entries + " entries");
            }
        }
    }

    private final class Packed extends Log {
        private final String script = redis.text("SCRIPT", "LOAD", Script.ACQUIRE.text());
        private final Batch batch;

        Packed(int entries) {
            super(entries);
            RedisKeys keys = RedisKeys.of("default");
            Limit limit = Limit.of(Algorithm.SLIDING_LOG, entries, WINDOW);
            Charge charge = new Charge(new PolicyLimits("log" + entries, List.of(limit)), "i.203.0.113.7", 1);
            batch = new Batch(new RequestFactory(keys, RejectionCache.disabled(keys), late -> {})
                    .create(
                            List.of(charge),
                            AcquireRequest.Operation.SPEND,
                            System.nanoTime() + TimeUnit.HOURS.toNanos(1)));
        }

        @Override
        boolean call(long nowMicros) {
            byte[] reply = (byte[])
                    redis.call("EVALSHA", script, 1, batch.keys().get(0), AcquireCodec.encode(batch, nowMicros));
            // The instant, and then the number of allowed requests in two bytes.
            return (reply[7] | reply[8]) == 1;
        }

        @Override
        String key() {
            return batch.keys().get(0).toString();
        }

        @Override
        public String toString() {
            return "packed string";
        }
    }

    private final class SortedSet extends Log {
        private final String script = redis.text("SCRIPT", "LOAD", SORTED_SET);

        SortedSet(int entries) {
            super(entries);
        }

        @Override
        boolean call(long nowMicros) {
            String unique = String.format("%08x", (int) (nowMicros * 0x9E3779B1L));
            long window = TimeUnit.SECONDS.toMicros(WINDOW.toSeconds());
            List<?> reply = (List<?>) redis.call("EVALSHA", script, 1, key(), nowMicros, window, entries, unique);
            return reply.get(0).equals(1L);
        }

        @Override
        String key() {
            return "log:{i.203.0.113.7}:" + entries;
        }

        @Override
        public String toString() {
            return "sorted set";
        }
    }

    /** The costs of one call in microseconds and bytes. */
    private record Cost(double script, double cpu, double received, double sent, double replicated) {}

    /**
     * Prints a table without a replica, and one with a replica.
     *
     * @param args none
     */
    public static void main(String[] args) {
        try (RedisProcess process = RedisProcess.started("--repl-ping-replica-period", "3600");
                RedisConnection redis = process.connect()) {
            SlidingLogCost cost = new SlidingLogCost(redis);
            cost.print("without a replica");
            try (RedisProcess replica =
                    RedisProcess.started("--replicaof", "127.0.0.1", String.valueOf(process.port()))) {
                Await.until(
                        "the replica is online",
                        Duration.ofSeconds(20),
                        () -> redis.text("INFO", "replication").contains("state=online"));
                cost.print("with a replica");
                replica.kill();
            }
        }
        System.exit(0);
    }

    private void print(String name) {
        Table table = Table.of(
                "sliding log, " + name,
                "call",
                "form",
                "script, µs",
                "processor, µs",
                "to Redis, bytes",
                "from Redis, bytes",
                "to a replica, bytes",
                "memory, bytes");
        for (int entries : new int[] {10, 100, 1_000, Trial.or(10_000, 2_000)}) {
            redis.call("FLUSHALL");
            List<Log> logs = List.of(new Packed(entries), new SortedSet(entries));
            for (Log log : logs) {
                for (int i = 0; i < entries; i++) {
                    log.call(true);
                }
            }
            for (boolean allowed : new boolean[] {true, false}) {
                rows(table, logs, allowed);
            }
        }
        table.print();
    }

    private void rows(Table table, List<Log> logs, boolean allowed) {
        Cost[][] costs = new Cost[logs.size()][ROUNDS];
        logs.forEach(log -> measure(log, allowed));
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < logs.size(); i++) {
                costs[i][round] = measure(logs.get(i), allowed);
            }
        }
        for (int i = 0; i < logs.size(); i++) {
            Log log = logs.get(i);
            table.row(
                    String.format(Locale.ROOT, "%,d entries", log.entries),
                    allowed ? "allowed" : "rejected",
                    log,
                    decimal(costs[i], Cost::script),
                    decimal(costs[i], Cost::cpu),
                    whole(costs[i], Cost::received),
                    whole(costs[i], Cost::sent),
                    whole(costs[i], Cost::replicated),
                    String.format(Locale.ROOT, "%,d", redis.number("MEMORY", "USAGE", log.key(), "SAMPLES", 0)));
        }
    }

    private Cost measure(Log log, boolean allowed) {
        int calls = log.entries < 10_000 ? 1_000 : 200;
        redis.call("CONFIG", "RESETSTAT");
        double cpuBefore = cpuMicros();
        long offset = Long.parseLong(field("replication", "master_repl_offset"));
        // The first reading counts its own request but not its reply.
        long[] first = traffic();
        long[] second = traffic();
        for (int call = 0; call < calls; call++) {
            log.call(allowed);
        }
        long[] third = traffic();
        double replicated = Long.parseLong(field("replication", "master_repl_offset")) - offset;
        redis.call("WAIT", Integer.parseInt(field("replication", "connected_slaves")), 10_000);
        return new Cost(
                (double) scriptMicros(calls) / calls,
                (cpuMicros() - cpuBefore) / calls,
                (double) (third[0] - 2 * second[0] + first[0]) / calls,
                (double) (third[1] - 2 * second[1] + first[1]) / calls,
                replicated / calls);
    }

    private long[] traffic() {
        String stats = redis.text("INFO", "stats");
        return new long[] {
            Long.parseLong(field(stats, Pattern.compile("total_net_input_bytes:(\\d+)"))),
            Long.parseLong(field(stats, Pattern.compile("total_net_output_bytes:(\\d+)")))
        };
    }

    private double cpuMicros() {
        String cpu = redis.text("INFO", "cpu");
        return 1e6
                * (Double.parseDouble(field(cpu, Pattern.compile("used_cpu_sys:([\\d.]+)")))
                        + Double.parseDouble(field(cpu, Pattern.compile("used_cpu_user:([\\d.]+)"))));
    }

    private long scriptMicros(int calls) {
        return Long.parseLong(field(
                redis.text("INFO", "commandstats"),
                Pattern.compile("cmdstat_evalsha:calls=" + calls + ",usec=(\\d+),")));
    }

    private String field(String section, String name) {
        return field(redis.text("INFO", section), Pattern.compile(name + ":([^\r\n]*)"));
    }

    private static String field(String section, Pattern pattern) {
        Matcher matcher = pattern.matcher(section);
        if (!matcher.find()) {
            throw new IllegalStateException("INFO does not contain " + pattern);
        }
        return matcher.group(1);
    }

    private static String decimal(Cost[] costs, ToDoubleFunction<Cost> part) {
        return String.format(Locale.ROOT, "%.1f", median(costs, part));
    }

    private static String whole(Cost[] costs, ToDoubleFunction<Cost> part) {
        return String.format(Locale.ROOT, "%,.0f", median(costs, part));
    }

    private static double median(Cost[] costs, ToDoubleFunction<Cost> part) {
        double[] sorted = Arrays.stream(costs).mapToDouble(part).sorted().toArray();
        return sorted[sorted.length / 2];
    }
}
