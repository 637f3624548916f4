// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.sun.management.ThreadMXBean;
import io.github.bucket4j.Bucket;
import io.weir.ratelimit.benchmarks.report.Figure;
import io.weir.ratelimit.benchmarks.report.Table;
import io.weir.ratelimit.benchmarks.report.Trial;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.spi.Charge;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A program that measures the processor time and the allocated bytes of a decision in process, beside a Bucket4j bucket in a Caffeine
 * cache. Short turns of one thread alternate, so that other load on the machine affects both alike.
 */
public final class LocalDecisionCost {
    private static final int WARM_UP = Trial.or(15, 1);
    private static final int ROUNDS = Trial.or(61, 3);
    private static final int DECISIONS = 50_000;
    private static final long PERMITS = 1_000_000_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final LocalEngines.AddressCall[] calls;
    private int position;

    private record Turn(double nanos, double bytes) {}

    private LocalDecisionCost(int callers) {
        calls = new LocalEngines.AddressCall[callers];
        for (int i = 0; i < callers; i++) {
            calls[i] = new LocalEngines.AddressCall("10.1." + i / 256 + "." + i % 256);
        }
    }

    /**
     * Prints the cost of a decision.
     *
     * @param args {@code none}, {@code mp} or {@code otel} for an engine with these metrics and with top keys, or {@code backend} for the
     *     local backend alone; then the number of callers
     */
    public static void main(String[] args) {
        new LocalDecisionCost(Integer.parseInt(args[1])).measure(args[0]);
    }

    private void measure(String name) {
        Predicate<LocalEngines.AddressCall> bucket4j = bucket4j();
        Predicate<LocalEngines.AddressCall> weir = name.equals("backend") ? backend() : engine(name);
        Turn[] ofBucket4j = new Turn[ROUNDS];
        Turn[] ofWeir = new Turn[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            Turn first = turn(bucket4j);
            Turn second = turn(weir);
            if (round >= 0) {
                ofBucket4j[round] = first;
                ofWeir[round] = second;
            }
        }
        double[] ratios = new double[ROUNDS];
        Arrays.setAll(ratios, i -> ofWeir[i].nanos / ofBucket4j[i].nanos);
        String label = String.format(
                Locale.ROOT,
                "`%s`, %s",
                name,
                calls.length == 1 ? "one caller" : "%,d callers".formatted(calls.length));
        double bytes = ofWeir[ROUNDS - 1].bytes;
        Table.of("metrics, callers", "Weir", "Bucket4j in Caffeine", "Weir ÷ Bucket4j")
                .row(label, cell(ofWeir), cell(ofBucket4j), String.format(Locale.ROOT, "%.2f", median(ratios)))
                .print();
        new Figure(label + ": ratio", median(ratios)).print();
        new Figure(label + ": bytes", bytes).print();
    }

    private static String cell(Turn... turns) {
        return String.format(
                Locale.ROOT,
                "%.0f ns, %.0f bytes",
                median(Arrays.stream(turns).mapToDouble(Turn::nanos).toArray()),
                turns[turns.length - 1].bytes);
    }

    private static Predicate<LocalEngines.AddressCall> bucket4j() {
        Cache<String, Bucket> buckets =
                Caffeine.newBuilder().maximumSize(100_000).build();
        return call -> buckets.get(
                        call.address(),
                        address -> Bucket.builder()
                                .addLimit(limit -> limit.capacity(PERMITS).refillGreedy(PERMITS, Duration.ofHours(1)))
                                .build())
                .tryConsume(1);
    }

    private static Predicate<LocalEngines.AddressCall> engine(String metrics) {
        RateLimitEngine engine = LocalEngines.engine(
                DeployedListeners.of(metrics), new TopKeysTracker(new KeyMasker(Optional.empty()), System::nanoTime));
        Binding binding = LocalEngines.binding("ip");
        return call -> engine.decide(binding, call, null).allowed();
    }

    private static Predicate<LocalEngines.AddressCall> backend() {
        LocalBackend backend = new LocalBackend(100_000);
        Binding binding = LocalEngines.binding("ip");
        return call -> backend.acquire(
                        List.of(new Charge(binding.policies().get(0).policy().limits(), call.address(), 1)))
                .allowed();
    }

    private Turn turn(Predicate<LocalEngines.AddressCall> limiter) {
        long bytes = THREADS.getCurrentThreadAllocatedBytes();
        long nanos = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < DECISIONS; i++) {
            position = position + 1 == calls.length ? 0 : position + 1;
            if (!limiter.test(calls[position])) {
                throw new IllegalStateException("no call must be rejected");
            }
        }
        return new Turn(
                (double) (THREADS.getCurrentThreadCpuTime() - nanos) / DECISIONS,
                (double) (THREADS.getCurrentThreadAllocatedBytes() - bytes) / DECISIONS);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
