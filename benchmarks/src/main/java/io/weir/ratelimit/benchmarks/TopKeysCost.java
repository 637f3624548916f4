// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.benchmarks.report.Table;
import io.weir.ratelimit.benchmarks.report.Trial;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
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
 * A program that measures the cost of top keys. It compares the processor time per decision of the local backend with and without them.
 * Short turns alternate, so that other load on the machine affects both alike.
 */
public final class TopKeysCost {
    private static final int WARM_UP = Trial.or(20, 1);
    private static final int ROUNDS = Trial.or(41, 3);
    private static final int DECISIONS = 100_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** The window is so short that the local backend always has capacity for a new key. */
    private final Binding binding =
            LocalEngines.binding("ip", Limit.of(Algorithm.SLIDING_WINDOW, 1_000_000_000, Duration.ofMillis(1)));

    private int addresses;

    private TopKeysCost() {}

    /**
     * Prints the cost per decision.
     *
     * @param args none
     */
    public static void main(String[] args) throws Exception {
        TopKeysCost cost = new TopKeysCost();
        CallContext one = new LocalEngines.AddressCall("10.1.2.3");
        cost.measure("one caller, 1 thread", 1, i -> one);
        cost.measure("one caller, 8 threads", 8, i -> one);
        cost.measure("each caller once, 1 thread", 1, i -> cost.next());
    }

    /** Returns a call from a new address. */
    private CallContext next() {
        addresses++;
        return new LocalEngines.AddressCall((addresses >> 24 & 0xff) + "." + (addresses >> 16 & 0xff) + "."
                + (addresses >> 8 & 0xff) + "." + (addresses & 0xff));
    }

    private void measure(String name, int threads, IntFunction<CallContext> callers) throws Exception {
        RateLimitEngine plain = LocalEngines.engine(List.of(), TopKeysTracker.NONE);
        RateLimitEngine tracking =
                LocalEngines.engine(List.of(), new TopKeysTracker(new KeyMasker(Optional.empty()), System::nanoTime));
        double[] without = new double[ROUNDS];
        double[] with = new double[ROUNDS];
        double[] ratios = new double[ROUNDS];
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            for (int round = -WARM_UP; round < ROUNDS; round++) {
                boolean plainFirst = round % 2 == 0;
                double first = turn(plainFirst ? plain : tracking, threads, executor, callers);
                double second = turn(plainFirst ? tracking : plain, threads, executor, callers);
                if (round >= 0) {
                    without[round] = plainFirst ? first : second;
                    with[round] = plainFirst ? second : first;
                    ratios[round] = with[round] / without[round];
                }
            }
        } finally {
            executor.shutdown();
        }
        Table.of("a decision and its top keys", "without", "with", "median ratio", "middle half")
                .row(
                        name,
                        String.format(Locale.ROOT, "%.0f ns", quartile(without, 2)),
                        String.format(Locale.ROOT, "%.0f ns", quartile(with, 2)),
                        String.format(Locale.ROOT, "%.3f", quartile(ratios, 2)),
                        String.format(Locale.ROOT, "%.2f to %.2f", quartile(ratios, 1), quartile(ratios, 3)))
                .print();
    }

    private double turn(RateLimitEngine engine, int threads, ExecutorService executor, IntFunction<CallContext> callers)
            throws Exception {
        List<Future<Long>> times = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            times.add(executor.submit(() -> {
                long start = THREADS.getCurrentThreadCpuTime();
                for (int i = 0; i < DECISIONS; i++) {
                    if (!engine.decide(binding, callers.apply(i), null).allowed()) {
                        throw new IllegalStateException("no call must be rejected");
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

    /** Returns a quartile. */
    private static double quartile(double[] values, int quarter) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(sorted.length - 1) * quarter / 4];
    }
}
