// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Limit;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * A program that measures the cost of approximate counts. It compares the processor time per decision of stored keys and of new keys of a
 * full local backend. Short turns alternate, so that other load on the machine affects both alike.
 */
public final class FullTableCost {
    private static final int WARM_UP = 20;
    private static final int ROUNDS = 41;
    private static final int DECISIONS = 100_000;
    private static final int CALLERS = 10_000;
    private static final int MAX_KEYS = 100_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private FullTableCost() {}

    /**
     * Prints the cost per decision for each algorithm.
     *
     * @param args none
     */
    public static void main(String[] args) {
        for (Algorithm algorithm : List.of(Algorithm.SLIDING_WINDOW, Algorithm.FIXED_WINDOW, Algorithm.TOKEN_BUCKET)) {
            measure(algorithm);
        }
    }

    private static void measure(Algorithm algorithm) {
        RateLimitEngine engine = LocalEngines.engine(List.of());
        Binding binding = LocalEngines.binding("ip", limit(algorithm));
        CallContext[] stored = callers(0, MAX_KEYS);
        for (CallContext caller : stored) {
            engine.decide(binding, caller, null);
        }
        CallContext[] someStored = Arrays.copyOf(stored, CALLERS);
        CallContext[] added = callers(MAX_KEYS, CALLERS);
        double[] exact = new double[ROUNDS];
        double[] approximate = new double[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            double first = turn(engine, binding, someStored);
            double second = turn(engine, binding, added);
            if (round >= 0) {
                exact[round] = first;
                approximate[round] = second;
            }
        }
        System.out.printf(
                Locale.ROOT,
                "%s: %.0f ns for a stored key, %.0f ns for a new key of a full table%n",
                algorithm.configName(),
                median(exact),
                median(approximate));
    }

    /** Returns a limit that no caller reaches, and whose permits return so late that no key is dropped. */
    private static Limit limit(Algorithm algorithm) {
        return algorithm == Algorithm.TOKEN_BUCKET
                ? Limit.of(algorithm, 1_000, Duration.ofDays(1), 100_000)
                : Limit.of(algorithm, 1_000_000_000, Duration.ofDays(1));
    }

    private static CallContext[] callers(int first, int count) {
        CallContext[] callers = new CallContext[count];
        for (int i = 0; i < count; i++) {
            int address = first + i;
            callers[i] = new LocalEngines.AddressCall(
                    "10." + (address >> 16 & 0xff) + "." + (address >> 8 & 0xff) + "." + (address & 0xff));
        }
        return callers;
    }

    private static double turn(RateLimitEngine engine, Binding binding, CallContext[] callers) {
        long start = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < DECISIONS; i++) {
            if (!engine.decide(binding, callers[i % callers.length], null).allowed()) {
                throw new IllegalStateException("no call must be rejected");
            }
        }
        return (double) (THREADS.getCurrentThreadCpuTime() - start) / DECISIONS;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
