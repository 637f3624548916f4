// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.RateLimitEngine;
import io.weir.ratelimit.interceptor.heavy.HeavyKeys;
import io.weir.ratelimit.interceptor.key.ShownKeys;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Limit;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;

/**
 * What it costs a decision in process to count who calls most often: processor time of the deciding threads per decision, with and
 * without the counts, in short turns one after the other, so that whatever else the machine does meets both alike.
 */
public final class HeavyKeysCost {
    private static final int WARM_UP = 20;
    private static final int ROUNDS = 41;
    private static final int DECISIONS = 100_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** So short that the store in process always has room for a caller that never called. */
    private final Binding binding =
            Callers.binding("ip", Limit.of(Algorithm.SLIDING_WINDOW, 1_000_000_000, Duration.ofMillis(1)));

    private int addresses;

    private HeavyKeysCost() {}

    /**
     * Measures and prints.
     *
     * @param args none
     */
    public static void main(String[] args) throws Exception {
        HeavyKeysCost cost = new HeavyKeysCost();
        CallContext one = new Callers.Address("10.1.2.3");
        cost.measure("one caller, 1 thread", 1, i -> one);
        cost.measure("one caller, 8 threads", 8, i -> one);
        cost.measure("each caller once, 1 thread", 1, i -> cost.next());
    }

    /** An address that never called; made in the turns with and without the counts alike. */
    private CallContext next() {
        addresses++;
        return new Callers.Address((addresses >> 24 & 0xff) + "." + (addresses >> 16 & 0xff) + "."
                + (addresses >> 8 & 0xff) + "." + (addresses & 0xff));
    }

    private void measure(String name, int threads, IntFunction<CallContext> callers) throws Exception {
        RateLimitEngine plain = Callers.engine(List.of(), HeavyKeys.NONE);
        RateLimitEngine counting =
                Callers.engine(List.of(), new HeavyKeys(new ShownKeys(Optional.empty()), System::nanoTime));
        double[] without = new double[ROUNDS];
        double[] with = new double[ROUNDS];
        double[] ratios = new double[ROUNDS];
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            for (int round = -WARM_UP; round < ROUNDS; round++) {
                boolean plainFirst = round % 2 == 0;
                double first = turn(plainFirst ? plain : counting, threads, executor, callers);
                double second = turn(plainFirst ? counting : plain, threads, executor, callers);
                if (round >= 0) {
                    without[round] = plainFirst ? first : second;
                    with[round] = plainFirst ? second : first;
                    ratios[round] = with[round] / without[round];
                }
            }
        } finally {
            executor.shutdown();
        }
        System.out.printf(
                Locale.ROOT,
                "%s: %.0f ns without, %.0f ns with; median of the ratios %.3f, middle half %.3f to %.3f%n",
                name,
                part(without, 2),
                part(with, 2),
                part(ratios, 2),
                part(ratios, 1),
                part(ratios, 3));
    }

    private double turn(RateLimitEngine engine, int threads, ExecutorService executor, IntFunction<CallContext> callers)
            throws Exception {
        List<Future<Long>> times = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            times.add(executor.submit(() -> {
                long start = THREADS.getCurrentThreadCpuTime();
                for (int i = 0; i < DECISIONS; i++) {
                    if (!engine.decide(binding, callers.apply(i)).allowed()) {
                        throw new IllegalStateException("nobody is refused here");
                    }
                }
                return THREADS.getCurrentThreadCpuTime() - start;
            }));
        }
        long sum = 0;
        for (Future<Long> time : times) {
            sum += time.get();
        }
        return (double) sum / threads / DECISIONS;
    }

    /** A quartile. */
    private static double part(double[] values, int quarter) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(sorted.length - 1) * quarter / 4];
    }
}
