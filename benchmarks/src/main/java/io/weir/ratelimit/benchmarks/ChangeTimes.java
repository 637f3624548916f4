// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.changes.ChangeCodec;
import io.weir.ratelimit.core.changes.ChangeState;
import io.weir.ratelimit.core.changes.RuntimeChange;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.RedissonBackend;
import io.weir.ratelimit.spi.ChangeStore;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.redisson.api.RedissonClient;

/**
 * A program that measures the time from the call that stores a runtime change until other processes have read it. The processes poll the
 * store every 400 ms. The time includes the call, the signature and a line of output of the process.
 */
public final class ChangeTimes {
    static final Optional<String> SECRET = Optional.of("a secret of the measurement, not of instances");
    static final Charge CHARGE = new Charge(
            new PolicyLimits("ready", List.of(Limit.of(Algorithm.FIXED_WINDOW, 1, Duration.ofHours(1)))), "k.ready", 1);

    private static final int INSTANCES = 5;
    private static final int POLICIES = 20;
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
        int changes = args.length == 0 ? 1_000 : Integer.parseInt(args[0]);
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
        RedissonClient client = PollingInstance.client(address);
        RedissonBackend backend = new RedissonBackend(client, NAMESPACE, Duration.ofSeconds(10));
        ChangeStore store = PollingInstance.store(backend);
        AtomicLongArray starts = new AtomicLongArray(changes + 1);
        ExecutorService readers = Executors.newFixedThreadPool(instances.size());
        List<Future<long[]>> reads = instances.stream()
                .map(instance -> readers.submit(() -> reads(instance, starts)))
                .toList();
        long[] calls = write(store, starts);
        long[] all = new long[changes * instances.size()];
        long[] last = new long[changes];
        for (int i = 0; i < instances.size(); i++) {
            long[] times = reads.get(i).get();
            System.arraycopy(times, 1, all, i * changes, changes);
            Arrays.setAll(last, change -> Math.max(last[change], times[change + 1]));
        }
        print("stored", calls);
        print("read by each process", all);
        print("read by the last process", last);
        readers.shutdown();
        backend.close();
        client.shutdown();
    }

    /** Makes the changes at random intervals, and returns the times of the calls. */
    private static long[] write(ChangeStore store, AtomicLongArray starts) throws InterruptedException {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        ChangeCodec codec = new ChangeCodec(NAMESPACE, SECRET);
        ChangeState state = ChangeState.EMPTY;
        long[] calls = new long[starts.length() - 1];
        for (int number = 1; number < starts.length(); number++) {
            TimeUnit.MILLISECONDS.sleep(random.nextInt(2 * MEAN_MILLIS));
            RuntimeChange change = change(number);
            ChangeState next = state.with(change);
            long start = System.nanoTime();
            starts.set(number, start);
            boolean stored = store.replace(state.tag(), codec.encode(next), codec.encode(change))
                    .toCompletableFuture()
                    .join();
            calls[number - 1] = System.nanoTime() - start;
            if (!stored) {
                throw new IllegalStateException("another writer has changed the state");
            }
            state = next;
        }
        return calls;
    }

    private static RuntimeChange change(int number) {
        return new RuntimeChange(
                number,
                new RuntimeChange.Subject(RuntimeChange.Kind.POLICY, "policy" + number % POLICIES, Optional.empty()),
                Map.of("limit", number + "/1m"),
                Map.of("limit", "100/1m"),
                "operator",
                "measurement",
                Instant.now(),
                Optional.empty(),
                OptionalLong.empty());
    }

    /** Returns the time until each change was read. A later state contains the earlier changes. */
    private static long[] reads(PollingInstance instance, AtomicLongArray starts) throws IOException {
        long[] times = new long[starts.length()];
        int read = 0;
        while (read < starts.length() - 1) {
            long number = instance.nextNumber();
            long now = System.nanoTime();
            while (read < number) {
                read++;
                times[read] = now - starts.get(read);
            }
        }
        return times;
    }

    private static void print(String what, long[] nanos) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        System.out.printf(
                Locale.ROOT,
                "%s: %d times, p50 %.0f ms, p99 %.0f ms, at most %.0f ms%n",
                what,
                sorted.length,
                sorted[sorted.length / 2] / 1e6,
                sorted[Math.min(sorted.length - 1, sorted.length * 99 / 100)] / 1e6,
                sorted[sorted.length - 1] / 1e6);
    }
}
