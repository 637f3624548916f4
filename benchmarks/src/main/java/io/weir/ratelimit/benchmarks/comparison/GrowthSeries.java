// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.RedissonBackend;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;
import org.redisson.Redisson;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/** The Redis backend with one size, beside the floor on the same Redis. The charges of a call are created anew. */
final class GrowthSeries {
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    static final String NAMESPACE = "default";

    private final RedisConnection redis;
    private final MeasuredContender floor;
    private final MeasuredContender weir;
    private final List<Turn> turns = new ArrayList<>();

    /**
     * One turn of the backend, and one of the floor before it.
     *
     * @param weir the turn of the backend
     * @param floor the turn of the floor
     */
    record Turn(Part weir, Part floor) {}

    /**
     * The costs of a turn.
     *
     * @param cpuMicros the processor time of Redis per decision
     * @param perSecond the decisions per second
     */
    record Part(double cpuMicros, double perSecond) {}

    /**
     * Creates a series.
     *
     * @param keys the number of keys, which are used in turn
     * @param charges the charges of a call by its key
     */
    GrowthSeries(RedisConnection redis, Redisson client, int keys, IntFunction<List<Charge>> charges) {
        this.redis = redis;
        floor = measured(new Floor(client, NAMESPACE, Workload.MANY_KEYS), Workload.MANY_KEYS.keys());
        weir = measured(new Calls(new RedissonBackend(client, NAMESPACE, DEADLINE), charges), keys);
    }

    private static MeasuredContender measured(Contender contender, int keys) {
        return new MeasuredContender(contender, new Workload("growth", keys, 1, Workload.UNREACHABLE), DEADLINE);
    }

    /** Returns a key of 14 bytes, so that the number of keys does not change its length. */
    static String storedKey(int key) {
        return String.format(Locale.ROOT, "p.user%08d", key);
    }

    /** Returns a client of a Redis. */
    static Redisson client(RedisProcess process) {
        Config config = new Config().setCodec(ByteArrayCodec.INSTANCE);
        config.useSingleServer().setAddress(process.address());
        return (Redisson) Redisson.create(config);
    }

    /** Measures rounds in which each series has a turn, after one round that does not count. */
    static void run(List<GrowthSeries> all, LoadPattern pattern, GrowthOptions options) {
        all.forEach(series -> series.turns.clear());
        for (int round = -1; round < options.rounds(); round++) {
            for (GrowthSeries series : all) {
                Part floor = series.turn(series.floor, pattern, options.seconds());
                Part weir = series.turn(series.weir, pattern, options.seconds());
                if (round >= 0) {
                    series.turns.add(new Turn(weir, floor));
                }
            }
        }
    }

    private Part turn(MeasuredContender contender, LoadPattern pattern, double seconds) {
        RedisUsage before = RedisUsage.of(redis);
        long completed = contender.completed();
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        pattern.run(contender, () -> System.nanoTime() < end);
        double duration = (System.nanoTime() - start) / 1e9;
        long decisions = contender.completed() - completed;
        if (contender.failed() > 0 || contender.allowed() != contender.completed()) {
            throw new IllegalStateException("a call failed or was rejected: " + contender.firstFailure());
        }
        return new Part(RedisUsage.of(redis).minus(before).cpuMicros() / decisions, decisions / duration);
    }

    /** Returns the median of a figure over the rounds of the last run. */
    double median(ToDoubleFunction<Turn> figure) {
        return Quartiles.of(turns.stream().mapToDouble(figure)).median();
    }

    /** Returns a row with the medians of a figure. */
    static GrowthRow row(String sizes, String measure, List<GrowthSeries> all, ToDoubleFunction<Turn> figure) {
        return new GrowthRow(
                sizes,
                measure,
                all.stream().map(series -> series.median(figure)).toList());
    }

    /** Releases the backend, and not its client. */
    void close() {
        weir.limiter().close();
    }

    private record Calls(RedissonBackend backend, IntFunction<List<Charge>> charges) implements Contender {
        @Override
        public String name() {
            return "Weir";
        }

        @Override
        public Object decide(int key) {
            return backend.acquire(charges.apply(key));
        }

        @Override
        public CompletionStage<?> decideAsync(int key) {
            return backend.acquireAsync(charges.apply(key));
        }

        @Override
        public boolean allowed(Object result) {
            return ((Decision) result).allowed();
        }

        @Override
        public void close() {
            backend.close();
        }
    }
}
