// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.benchmarks.report.Trial;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.redisson.Redisson;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/**
 * Tables of the memory of Redis by the number of keys, and of its processor time by decisions per second. Decisions start at a steady
 * rate, independently of earlier ones, as requests do. An idle Redis therefore receives more and smaller batches than a busy one.
 */
public final class CapacityTable {
    private static final Algorithm ALGORITHM = Algorithm.SLIDING_WINDOW;
    private static final List<Integer> KEYS = List.of(10_000, 100_000, Trial.or(1_000_000, 100_001));
    private static final List<Integer> RATES = List.of(100, 1_000, 5_000, 10_000, 20_000, 40_000);
    private static final List<Workload> WORKLOADS =
            List.of(Workload.MANY_KEYS, Workload.THREE_LIMITS, Workload.HOT_KEY);
    private static final LoadPattern CONCURRENT = new LoadPattern.Asynchronous(128);
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private static final int ROUNDS = Trial.or(3, 1);
    private static final long ROUND_NANOS = (long) (Trial.or(4, 0.1) * 1e9);
    private static final long TICK_NANOS = 1_000_000;

    private final PrintStream out;

    /** Creates tables whose rows are printed as they are measured. */
    public CapacityTable(PrintStream out) {
        this.out = out;
    }

    /** Measures and prints the tables. */
    public void print() {
        out.println("| keys, one limit each | `used_memory` | resident |\n|---|---|---|");
        KEYS.forEach(this::memory);
        out.println("\n| requested decisions/s | many keys | 3 limits each | one hot key |\n|---|---|---|---|");
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect()) {
            for (int rate : RATES) {
                out.printf(Locale.ROOT, "| %,d |", rate);
                WORKLOADS.forEach(workload -> with(process, workload, contender -> processor(redis, contender, rate)));
                out.println();
            }
        }
    }

    private void memory(int keys) {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect()) {
            long before = memory(redis, "used_memory");
            Workload workload = new Workload("capacity", keys, 1, Workload.UNREACHABLE);
            with(process, workload, contender -> CONCURRENT.run(contender, () -> contender.started() < keys));
            out.printf(
                    Locale.ROOT,
                    "| %,d | %.1f MB | %.1f MB |%n",
                    keys,
                    (memory(redis, "used_memory") - before) / 1e6,
                    memory(redis, "used_memory_rss") / 1e6);
        }
    }

    /** Prints the share of one processor that Redis uses, and the completed decisions per second, as medians of the rounds. */
    private void processor(RedisConnection redis, MeasuredContender contender, int rate) {
        paced(contender, rate);
        double[] shares = new double[ROUNDS];
        double[] rates = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            RedisUsage before = RedisUsage.of(redis);
            long completed = contender.completed();
            long start = System.nanoTime();
            paced(contender, rate);
            double seconds = (System.nanoTime() - start) / 1e9;
            shares[round] = RedisUsage.of(redis).minus(before).cpuMicros() / 1e6 / seconds;
            rates[round] = (contender.completed() - completed) / seconds;
        }
        Arrays.sort(shares);
        Arrays.sort(rates);
        out.printf(Locale.ROOT, " %.1f %% (%,.0f/s) |", 100 * shares[ROUNDS / 2], rates[ROUNDS / 2]);
        out.flush();
    }

    private static void paced(MeasuredContender contender, int rate) {
        long start = System.nanoTime();
        long started = 0;
        for (long time = 0; time < ROUND_NANOS; time = System.nanoTime() - start) {
            for (long due = rate * time / 1_000_000_000L; started < due; started++) {
                contender.decideAsync(() -> {});
            }
            LockSupport.parkNanos(TICK_NANOS);
        }
    }

    private static void with(RedisProcess process, Workload workload, Consumer<MeasuredContender> action) {
        Config config = new Config().setCodec(ByteArrayCodec.INSTANCE);
        config.useSingleServer().setAddress(process.address());
        Redisson client = (Redisson) Redisson.create(config);
        try (Contender weir = Weir.of(client, workload.name(), workload, ALGORITHM, DEADLINE)) {
            weir.decide(0);
            action.accept(new MeasuredContender(weir, workload, DEADLINE));
        } finally {
            client.shutdown();
        }
    }

    private static long memory(RedisConnection redis, String field) {
        return Long.parseLong(RedisUsage.field(redis.text("INFO", "memory"), field));
    }
}
