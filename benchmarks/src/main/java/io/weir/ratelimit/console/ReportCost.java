// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.benchmarks.report.Table;
import io.weir.ratelimit.benchmarks.report.Trial;
import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.console.report.MinuteCounts;
import io.weir.ratelimit.console.report.ReportBuilder;
import io.weir.ratelimit.console.report.RunningInstance;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.RedissonBackend;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A program that measures the reports of a busy instance: the processor time of all threads of Java, and the bytes. The decisions between
 * two reports are not part of the time, and neither are the collector, the compiler and Redis.
 */
public final class ReportCost {
    private static final int KEYS = 1_000;
    private static final int WARM_UP = Trial.or(100, 1);
    private static final int ROUNDS = Trial.or(41, 3);
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final BusyInstance instance;
    private final CountingStore store;
    private final FleetReports reports;

    private ReportCost(int policies, FleetStore redis) {
        this.instance = new BusyInstance(policies, KEYS);
        this.store = new CountingStore(redis);
        InstanceReport.Origin origin = RunningInstance.startedAt(Instant.now()).origin("measurement");
        MinuteCounts minutes = new MinuteCounts(instance::nanos);
        ReportBuilder builder = new ReportBuilder(instance.operations(), instance.rates(), () -> origin, minutes);
        this.reports = new FleetReports("measured", store, builder, instance.rates(), minutes, Clock.systemUTC());
    }

    /**
     * Starts a Redis, and prints the cost of a report by the number of policies.
     *
     * @param args none
     */
    public static void main(String[] args) {
        Config redisson = new Config().setCodec(StringCodec.INSTANCE);
        try (RedisProcess redis = RedisProcess.started()) {
            redisson.useSingleServer().setAddress(redis.address());
            RedissonClient client = Redisson.create(redisson);
            RedissonBackend backend = new RedissonBackend(client, "report-cost", Duration.ofSeconds(10));
            try {
                awaitRedis(backend);
                for (int policies : List.of(10, 100, 1_000)) {
                    new ReportCost(
                                    policies,
                                    backend.capability(FleetStore.class).orElseThrow())
                            .measure(policies);
                }
            } finally {
                backend.close();
                client.shutdown();
            }
        }
    }

    private static void awaitRedis(RedissonBackend backend) {
        while (!backend.status().initialized()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }

    private void measure(int policies) {
        double[] micros = new double[ROUNDS];
        long bytes = 0;
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            instance.decideFor(ScheduledReports.INTERVAL);
            long start = processorNanos();
            reports.run();
            store.await();
            if (round >= 0) {
                micros[round] = (processorNanos() - start) / 1e3;
                bytes = store.bytes;
            }
        }
        Arrays.sort(micros);
        double median = micros[ROUNDS / 2];
        String share = "share of a core at one report per " + ScheduledReports.INTERVAL.toSeconds() + " s";
        Table.of("a report, policies", "processor time", "middle half", "bytes", share)
                .row(
                        String.format(Locale.ROOT, "%,d, with %,d keys each", policies, KEYS),
                        String.format(Locale.ROOT, "%,.0f µs", median),
                        String.format(Locale.ROOT, "%,.0f to %,.0f µs", micros[ROUNDS / 4], micros[ROUNDS * 3 / 4]),
                        String.format(Locale.ROOT, "%,d", bytes),
                        String.format(Locale.ROOT, "%.2f %%", 100 * median / ScheduledReports.INTERVAL.toNanos() * 1e3))
                .print();
    }

    /** Returns the processor time that the threads have used until now. No thread ends during a measurement. */
    private static long processorNanos() {
        long sum = 0;
        for (long thread : THREADS.getAllThreadIds()) {
            sum += Math.max(0, THREADS.getThreadCpuTime(thread));
        }
        return sum;
    }

    /** A store that counts the bytes of the last report. */
    private static final class CountingStore implements FleetStore {
        private final FleetStore store;
        private long bytes;
        private CompletionStage<Instant> last = new CompletableFuture<>();

        private CountingStore(FleetStore store) {
            this.store = store;
        }

        private void await() {
            last.toCompletableFuture().join();
        }

        @Override
        public CompletionStage<Instant> report(String instance, byte[] report, Map<Long, byte[]> counts) {
            bytes = report.length
                    + counts.values().stream().mapToLong(step -> step.length).sum();
            last = store.report(instance, report, counts);
            return last;
        }

        @Override
        public CompletionStage<List<StoredReport>> reports() {
            return store.reports();
        }

        @Override
        public CompletionStage<List<byte[]>> history(List<Long> steps) {
            return store.history(steps);
        }
    }
}
