// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.benchmarks.report.Table;
import io.weir.ratelimit.benchmarks.report.Trial;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.RedissonBackend;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.SettlesCharges;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/**
 * A program that compares decisions about calendar limits, and decisions that are refunded or settled, with a decision about one sliding
 * window. Short turns alternate, so that other load on the machine affects all of them alike.
 */
public final class OperationCost {
    private static final int WARM_UP = Trial.or(2, 0);
    private static final int ROUNDS = Trial.or(11, 1);
    private static final Duration TURN = Duration.ofMillis(Trial.or(200, 20));
    private static final int KEYS = 10_000;
    private static final long ROOM = 1_000_000_000;
    private static final Limit WINDOW = Limit.of(Algorithm.SLIDING_WINDOW, ROOM, Duration.ofHours(1));
    private static final Limit MONTH =
            Limit.of(ROOM, new CalendarPeriod(CalendarPeriod.Unit.MONTH, ZoneId.of("Europe/Berlin"), 15));

    private static final List<Operation> OPERATIONS = List.of(
            new Operation("one sliding window", 1, (backend, receipt) -> {}, WINDOW),
            new Operation("a limit of a month", 1, (backend, receipt) -> {}, MONTH),
            new Operation("a sliding window and a limit of a month", 1, (backend, receipt) -> {}, WINDOW, MONTH),
            new Operation("one sliding window, refunded", 20, OperationCost::refund, WINDOW),
            new Operation("one sliding window, settled with less", 20, settle(5), WINDOW),
            new Operation("one sliding window, settled with more", 20, settle(30), WINDOW),
            new Operation("a limit of a month, settled with less", 20, settle(5), MONTH));

    private OperationCost() {}

    private static void refund(RateLimitBackend backend, Receipt receipt) {
        backend.refund(receipt).toCompletableFuture().join();
    }

    private static BiConsumer<RateLimitBackend, Receipt> settle(long actualCost) {
        return (backend, receipt) -> backend.capability(SettlesCharges.class)
                .orElseThrow()
                .settle(receipt, charge -> true, actualCost)
                .toCompletableFuture()
                .join();
    }

    /** An operation on one of many keys. */
    private static final class Operation {
        private final String name;
        private final List<List<Charge>> charges;
        private final BiConsumer<RateLimitBackend, Receipt> afterwards;

        Operation(String name, long cost, BiConsumer<RateLimitBackend, Receipt> afterwards, Limit... limits) {
            this.name = name;
            this.afterwards = afterwards;
            PolicyLimits policy = new PolicyLimits("p" + Integer.toHexString(name.hashCode()), List.of(limits));
            this.charges = IntStream.range(0, KEYS)
                    .mapToObj(key -> List.of(new Charge(policy, "p.user" + key, cost)))
                    .toList();
        }

        void run(RateLimitBackend backend, int key) {
            Decision decision = backend.acquire(charges.get(key % KEYS));
            if (!(decision instanceof Decision.Allowed allowed)) {
                throw new IllegalStateException("no call must be rejected");
            }
            afterwards.accept(backend, allowed.receipt());
        }
    }

    /** The operations per second of one turn, and the processor time of Redis per operation. */
    private record Turn(double rate, double redisMicros) {}

    /**
     * Prints a table for the in-process backend and one for Redis.
     *
     * @param args the numbers of threads, by default 1, 16 and 64
     */
    public static void main(String[] args) throws Exception {
        int[] threads = args.length == 0
                ? new int[] {1, 16, 64}
                : IntStream.range(0, args.length)
                        .map(i -> Integer.parseInt(args[i]))
                        .toArray();
        print("in process, 1 thread", new LocalBackend(10 * KEYS * OPERATIONS.size()), 1, null);
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect()) {
            Config config = new Config().setCodec(ByteArrayCodec.INSTANCE);
            config.useSingleServer().setAddress(process.address());
            RedissonClient client = Redisson.create(config);
            RedissonBackend backend = new RedissonBackend(client, "cost", Duration.ofSeconds(10));
            Await.until("the backend decides", Duration.ofSeconds(20), () -> isReady(backend));
            for (int count : threads) {
                print("Redis, " + count + (count == 1 ? " thread" : " threads"), backend, count, redis);
            }
            backend.close();
            client.shutdown();
        }
        System.exit(0);
    }

    private static boolean isReady(RateLimitBackend backend) {
        try {
            OPERATIONS.get(0).run(backend, 0);
            return true;
        } catch (BackendException e) {
            return false;
        }
    }

    private static void print(String name, RateLimitBackend backend, int threads, @Nullable RedisConnection redis)
            throws Exception {
        Turn[][] turns = new Turn[OPERATIONS.size()][ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            for (int i = 0; i < OPERATIONS.size(); i++) {
                Turn turn = turn(OPERATIONS.get(i), backend, threads, redis);
                if (round >= 0) {
                    turns[i][round] = turn;
                }
            }
        }
        Table table = Table.of(
                "operations, " + name,
                "operations/s, × the first row",
                "processor of Redis, × the first row",
                "operations/s");
        for (int i = 0; i < OPERATIONS.size(); i++) {
            int index = i;
            Quartiles rate = Quartiles.of(
                    IntStream.range(0, ROUNDS).mapToDouble(round -> turns[index][round].rate / turns[0][round].rate));
            Quartiles cpu = Quartiles.of(IntStream.range(0, ROUNDS)
                    .mapToDouble(round -> turns[index][round].redisMicros / turns[0][round].redisMicros));
            Quartiles perSecond =
                    Quartiles.of(IntStream.range(0, ROUNDS).mapToDouble(round -> turns[index][round].rate));
            table.row(
                    OPERATIONS.get(i).name,
                    rate.text(),
                    redis == null ? "-" : cpu.text(),
                    String.format(Locale.ROOT, "%,.0f", perSecond.median()));
        }
        table.print();
    }

    private static Turn turn(
            Operation operation, RateLimitBackend backend, int threads, @Nullable RedisConnection redis)
            throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        LongAdder done = new LongAdder();
        try {
            double cpu = redis == null ? 0 : RedisUsage.of(redis).cpuMicros();
            long start = System.nanoTime();
            long end = start + TURN.toNanos();
            List<Future<?>> all = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int first = thread * (KEYS / threads);
                all.add(pool.submit(() -> {
                    for (int call = 0; System.nanoTime() < end; call++) {
                        operation.run(backend, first + call);
                        done.increment();
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get(30, TimeUnit.SECONDS);
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            double used = redis == null ? 0 : RedisUsage.of(redis).cpuMicros() - cpu;
            return new Turn(done.sum() / seconds, used / done.sum());
        } finally {
            pool.shutdown();
        }
    }
}
