// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.redisson.RedisConnection;
import io.weir.ratelimit.redisson.RedisProcess;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.redisson.Redisson;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/**
 * The memory of Redis by the number of keys, and its processor time by decisions per second. Decisions come evenly, whether earlier
 * ones are answered or not, as requests do; so a Redis that has time to spare is asked more often for less than a busy one.
 */
public final class CapacityTable {
    private static final Algorithm ALGORITHM = Algorithm.SLIDING_WINDOW;
    private static final List<Integer> KEYS = List.of(10_000, 100_000, 1_000_000);
    private static final List<Integer> RATES = List.of(100, 1_000, 5_000, 10_000, 20_000, 40_000);
    private static final List<Workload> WORKLOADS =
            List.of(Workload.MANY_KEYS, Workload.THREE_LIMITS, Workload.HOT_KEY);
    private static final Drive MANY_AT_ONCE = new Drive.InFlight(128);
    private static final int ROUNDS = 3;
    private static final long ROUND_NANOS = 4_000_000_000L;
    private static final long TICK_NANOS = 1_000_000;

    private final PrintStream out;

    /** Tables whose rows are printed as they are measured. */
    public CapacityTable(PrintStream out) {
        this.out = out;
    }

    /** Measures and prints. */
    public void print() {
        out.println("| keys, one limit each | `used_memory` | resident |\n|---|---|---|");
        KEYS.forEach(this::memory);
        out.println("\n| decisions/s asked for | many keys | 3 limits each | one hot key |\n|---|---|---|---|");
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect()) {
            for (int rate : RATES) {
                out.printf(Locale.ROOT, "| %,d |", rate);
                WORKLOADS.forEach(workload -> with(process, workload, entrant -> processor(redis, entrant, rate)));
                out.println();
            }
        }
    }

    private void memory(int keys) {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect()) {
            long before = memory(redis, "used_memory");
            Workload workload = new Workload("capacity", keys, 1, false);
            with(process, workload, entrant -> MANY_AT_ONCE.run(entrant, () -> entrant.turns() < keys));
            out.printf(
                    Locale.ROOT,
                    "| %,d | %.1f MB | %.1f MB |%n",
                    keys,
                    (memory(redis, "used_memory") - before) / 1e6,
                    memory(redis, "used_memory_rss") / 1e6);
        }
    }

    /** The share of one processor that Redis uses, and how many decisions were really answered per second: medians of the rounds. */
    private void processor(RedisConnection redis, Entrant entrant, int rate) {
        paced(entrant, rate);
        double[] shares = new double[ROUNDS];
        double[] rates = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            RedisSpending before = RedisSpending.of(redis);
            long answered = entrant.answered();
            long start = System.nanoTime();
            paced(entrant, rate);
            double seconds = (System.nanoTime() - start) / 1e9;
            shares[round] = RedisSpending.of(redis).minus(before).cpuMicros() / 1e6 / seconds;
            rates[round] = (entrant.answered() - answered) / seconds;
        }
        Arrays.sort(shares);
        Arrays.sort(rates);
        out.printf(Locale.ROOT, " %.1f %% (%,.0f/s) |", 100 * shares[ROUNDS / 2], rates[ROUNDS / 2]);
        out.flush();
    }

    private static void paced(Entrant entrant, int rate) {
        long start = System.nanoTime();
        long asked = 0;
        for (long time = 0; time < ROUND_NANOS; time = System.nanoTime() - start) {
            for (long due = rate * time / 1_000_000_000L; asked < due; asked++) {
                entrant.decideAsync(() -> {});
            }
            LockSupport.parkNanos(TICK_NANOS);
        }
    }

    private static void with(RedisProcess process, Workload workload, Consumer<Entrant> what) {
        Config config = new Config().setCodec(ByteArrayCodec.INSTANCE);
        config.useSingleServer().setAddress(process.address());
        Redisson client = (Redisson) Redisson.create(config);
        try (Contender contender = Weir.of(client, workload.name(), workload, ALGORITHM)) {
            contender.decide(0);
            what.accept(new Entrant(contender, workload));
        } finally {
            client.shutdown();
        }
    }

    private static long memory(RedisConnection redis, String field) {
        return Long.parseLong(RedisSpending.field(redis.text("INFO", "memory"), field));
    }
}
