// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * The times of single decisions of one thread.
 *
 * <p>A pause of the collector lengthens a decision, and so does a thread without a processor. Neither uses processor time of the thread.
 * The processor time of a block of decisions therefore bounds the pauses that the decisions cause themselves.
 */
final class DecisionTimes {
    static final int BLOCK = 16;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final List<GarbageCollectorMXBean> COLLECTORS = ManagementFactory.getGarbageCollectorMXBeans();

    private final long[] nanos;
    private long longestCpuNanos;
    private long longestPauseMillis;

    private DecisionTimes(int count) {
        nanos = new long[count];
    }

    /**
     * Measures decisions.
     *
     * @param count the number of decisions
     * @param calls creates a call by its number, which is not measured
     * @param decision decides a call
     */
    static <T> DecisionTimes of(int count, IntFunction<T> calls, Consumer<T> decision) {
        DecisionTimes times = new DecisionTimes(count);
        for (int from = 0; from < count; from += BLOCK) {
            times.block(from, Math.min(from + BLOCK, count), calls, decision);
        }
        Arrays.sort(times.nanos);
        return times;
    }

    private <T> void block(int from, int to, IntFunction<T> calls, Consumer<T> decision) {
        long pauses = pauseMillis();
        long cpu = THREADS.getCurrentThreadCpuTime();
        for (int i = from; i < to; i++) {
            T call = calls.apply(i);
            long start = System.nanoTime();
            decision.accept(call);
            nanos[i] = System.nanoTime() - start;
        }
        longestCpuNanos = Math.max(longestCpuNanos, THREADS.getCurrentThreadCpuTime() - cpu);
        longestPauseMillis = Math.max(longestPauseMillis, pauseMillis() - pauses);
    }

    private static long pauseMillis() {
        long millis = 0;
        for (GarbageCollectorMXBean collector : COLLECTORS) {
            millis += collector.getCollectionTime();
        }
        return millis;
    }

    /** Returns the time within which a part of the decisions ended, such as 0.99, in microseconds. */
    double percentileMicros(double part) {
        return percentile(nanos, part) / 1e3;
    }

    /** Returns the value at a part of ascending values: 1 is the greatest. */
    static long percentile(long[] ascending, double part) {
        return ascending[Math.max(0, (int) Math.ceil(part * ascending.length) - 1)];
    }

    /** Returns the longest processor time of a block, in milliseconds. */
    double longestCpuMillis() {
        return longestCpuNanos / 1e6;
    }

    /** Returns the longest pause of the collector in a block, in milliseconds. */
    double longestPauseMillis() {
        return longestPauseMillis;
    }
}
