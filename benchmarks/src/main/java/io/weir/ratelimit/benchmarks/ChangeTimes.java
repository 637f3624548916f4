// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.benchmarks.report.Figure;
import io.weir.ratelimit.benchmarks.report.Table;
import io.weir.ratelimit.benchmarks.report.Trial;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A program that measures the time from the call that makes a runtime change until other processes have applied it. The processes are
 * instances without calls. The time includes the call, the signature, up to a millisecond until the process sees its own change, and a
 * line of its output.
 */
public final class ChangeTimes {
    private static final int INSTANCES = 5;
    private static final int MEAN_MILLIS = 100;
    private static final String NAMESPACE = "change-times";

    private ChangeTimes() {}

    /**
     * Starts a Redis and the processes, and prints percentiles.
     *
     * @param args the number of changes; 1000 if absent
     * @throws IOException if a process ends early
     * @throws InterruptedException if the thread is interrupted
     * @throws ExecutionException if a process ends early
     */
    public static void main(String[] args) throws IOException, InterruptedException, ExecutionException {
        int changes = args.length == 0 ? 1_000 : Trial.or(Integer.parseInt(args[0]), 5);
        List<PollingInstance> instances = new ArrayList<>();
        try (RedisProcess redis = RedisProcess.started()) {
            for (int i = 0; i < INSTANCES; i++) {
                instances.add(PollingInstance.started(redis.address(), NAMESPACE));
            }
            for (PollingInstance instance : instances) {
                instance.awaitReady();
            }
            measure(redis.address(), instances, changes);
        } finally {
            instances.forEach(PollingInstance::close);
        }
    }

    private static void measure(String address, List<PollingInstance> instances, int changes)
            throws InterruptedException, ExecutionException {
        AtomicLongArray starts = new AtomicLongArray(changes + 1);
        ExecutorService readers = Executors.newFixedThreadPool(instances.size());
        List<Future<long[]>> applied = instances.stream()
                .map(instance -> readers.submit(() -> applied(instance, starts)))
                .toList();
        readers.shutdown();
        long[] calls = make(address, starts);
        long[] all = new long[changes * instances.size()];
        long[] last = new long[changes];
        for (int i = 0; i < instances.size(); i++) {
            long[] times = applied.get(i).get();
            System.arraycopy(times, 1, all, i * changes, changes);
            Arrays.setAll(last, change -> Math.max(last[change], times[change + 1]));
        }
        Table table = Table.of("a runtime change", "p50", "p99", "longest");
        row(table, "the calling instance has made and applied the change", calls);
        row(table, "a process has applied it", all);
        row(table, "the last of the processes has applied it", last);
        table.print();
    }

    /** Makes the changes at random intervals, and returns the times of the calls. */
    private static long[] make(String address, AtomicLongArray starts) throws InterruptedException {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        long[] calls = new long[starts.length() - 1];
        try (ChangedInstance instance = new ChangedInstance(address, NAMESPACE)) {
            for (int number = 1; number < starts.length(); number++) {
                TimeUnit.MILLISECONDS.sleep(random.nextInt(2 * MEAN_MILLIS));
                long start = System.nanoTime();
                starts.set(number, start);
                instance.make(number);
                calls[number - 1] = System.nanoTime() - start;
            }
        }
        return calls;
    }

    /** Returns the time until each change was applied. A later change is applied with all earlier ones. */
    private static long[] applied(PollingInstance instance, AtomicLongArray starts) throws IOException {
        long[] times = new long[starts.length()];
        int applied = 0;
        while (applied < starts.length() - 1) {
            long number = instance.nextNumber();
            long now = System.nanoTime();
            while (applied < number) {
                applied++;
                times[applied] = now - starts.get(applied);
            }
        }
        return times;
    }

    private static void row(Table table, String what, long[] nanos) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        double p50 = sorted[sorted.length / 2] / 1e6;
        double p99 = sorted[Math.min(sorted.length - 1, sorted.length * 99 / 100)] / 1e6;
        double longest = sorted[sorted.length - 1] / 1e6;
        table.row(what, millis(p50), millis(p99), millis(longest));
        new Figure(what, p50, p99, longest).print();
    }

    private static String millis(double millis) {
        return String.format(Locale.ROOT, "%.0f ms", millis);
    }
}
