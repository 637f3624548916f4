// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.benchmarks.report.Table;
import io.weir.ratelimit.benchmarks.report.Trial;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.RedissonBackend;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A program that measures calls per second with one limit, with a concurrency limit beside it, and with a concurrency limit alone. The
 * calls with a concurrency limit release their slots. Short rounds of the three alternate, so that other load affects them alike.
 */
public final class ConcurrencyCost {
    private static final int[] THREADS = {1, 16, 64};
    private static final int WARM_UP = Trial.or(2, 1);
    private static final int ROUNDS = Trial.or(7, 1);
    private static final Duration ROUND = Duration.ofMillis(Trial.or(300, 30));
    private static final int KEYS = 1_000;

    private static final Limit WINDOW = Limit.of(Algorithm.SLIDING_WINDOW, 1_000_000_000, Duration.ofMinutes(1));
    private static final Limit SLOTS = Limit.concurrency(100, Duration.ofMinutes(1));
    private static final List<PolicyLimits> POLICIES = List.of(
            new PolicyLimits("limit", List.of(WINDOW)),
            new PolicyLimits("both", List.of(WINDOW, SLOTS)),
            new PolicyLimits("slots", List.of(SLOTS)));

    private ConcurrencyCost() {}

    /**
     * Prints the calls per second, and their ratios to those of a call with one limit.
     *
     * @param args {@code redis} for a new Redis, or {@code local} for the backend in process
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        if (args[0].equals("local")) {
            measure("in process", new LocalBackend(100_000));
            return;
        }
        try (RedisProcess redis = RedisProcess.started()) {
            Config config = new Config().setCodec(StringCodec.INSTANCE);
            config.useSingleServer().setAddress(redis.address());
            RedissonClient client = Redisson.create(config);
            RedissonBackend backend = new RedissonBackend(client, "concurrency-cost", Duration.ofSeconds(10));
            awaitReady(backend);
            measure("Redis", backend);
            backend.close();
            client.shutdown();
        }
    }

    private static void awaitReady(RateLimitBackend backend) throws InterruptedException {
        while (true) {
            try {
                backend.peek(List.of(new Charge(POLICIES.get(0), "k.ready", 1)));
                return;
            } catch (BackendException e) {
                TimeUnit.MILLISECONDS.sleep(100);
            }
        }
    }

    private static void measure(String name, RateLimitBackend backend) throws InterruptedException {
        Table table = Table.of(
                "limit on calls that run",
                "calls/s with one limit",
                "cost with both",
                "cost with a concurrency limit alone");
        for (int threads : THREADS) {
            for (int keys : new int[] {1, KEYS}) {
                double[][] rates = new double[POLICIES.size()][ROUNDS];
                for (int round = -WARM_UP; round < ROUNDS; round++) {
                    for (int i = 0; i < POLICIES.size(); i++) {
                        double rate = rate(backend, POLICIES.get(i), threads, keys);
                        if (round >= 0) {
                            rates[i][round] = rate;
                        }
                    }
                }
                table.row(
                        String.format(Locale.ROOT, "%s, threads: %d, keys: %,d", name, threads, keys),
                        String.format(Locale.ROOT, "%,.0f", median(rates[0])),
                        String.format(Locale.ROOT, "%.2f", ratio(rates[0], rates[1])),
                        String.format(Locale.ROOT, "%.2f", ratio(rates[0], rates[2])));
            }
        }
        table.print();
    }

    /** Returns the calls per second of a round. */
    private static double rate(RateLimitBackend backend, PolicyLimits policy, int threads, int keys)
            throws InterruptedException {
        HoldsSlots slots = backend.capability(HoldsSlots.class).orElseThrow();
        LongAdder calls = new LongAdder();
        CountDownLatch end = new CountDownLatch(threads);
        long start = System.nanoTime();
        List<Thread> all = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int first = thread * 7_919;
            Thread caller = new Thread(() -> {
                for (int call = first; System.nanoTime() - start < ROUND.toNanos(); call++) {
                    Charge charge = new Charge(policy, "k." + call % keys, 1);
                    Decision decision = backend.acquire(List.of(charge));
                    if (decision.receipt().holdsSlots()) {
                        slots.release(decision.receipt()).toCompletableFuture().join();
                    }
                    calls.increment();
                }
                end.countDown();
            });
            all.add(caller);
            caller.start();
        }
        end.await();
        for (Thread caller : all) {
            caller.join();
        }
        return calls.sum() * 1e9 / (System.nanoTime() - start);
    }

    /** Returns the median of the ratios of two rounds that follow each other. */
    private static double ratio(double[] without, double[] with) {
        double[] ratios = new double[without.length];
        Arrays.setAll(ratios, round -> without[round] / with[round]);
        return median(ratios);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
