// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.bucket4j.Bucket;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The time of a decision in process, without a container, beside other limiters in a Caffeine cache. The option {@code -t} sets the number
 * of threads.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class LocalDecisionBenchmark {
    private static final int MAX_KEYS = 100_000;

    /** The callers: one with a hot key, or many that take turns. */
    @State(Scope.Benchmark)
    public static class Callers {
        /** The number of callers. */
        @Param({"1", "10000"})
        public int callers;

        private LocalEngines.AddressCall[] calls = {};

        /** Creates the callers. */
        @Setup
        public void prepare() {
            calls = new LocalEngines.AddressCall[callers];
            for (int i = 0; i < callers; i++) {
                calls[i] = new LocalEngines.AddressCall("10.1." + i / 256 + "." + i % 256);
            }
        }
    }

    /** The position of a thread in the ring of callers. */
    @State(Scope.Thread)
    public static class Position {
        private int next;

        private LocalEngines.AddressCall caller(Callers all) {
            next = next + 1 == all.calls.length ? 0 : next + 1;
            return all.calls[next];
        }
    }

    /** An engine as a deployment has it: it counts top keys and notifies the listeners of the telemetry. */
    @State(Scope.Benchmark)
    public static class Deployed {
        /** The value of {@code ratelimit.metrics}: none, MicroProfile Metrics by SmallRye, or OpenTelemetry metrics. */
        @Param({"none", "mp", "otel"})
        public String metrics = "none";

        /** The algorithm of the limit. */
        @Param("SLIDING_WINDOW")
        public Algorithm algorithm = Algorithm.SLIDING_WINDOW;

        private RateLimitEngine engine = LocalEngines.engine(List.of());
        private Binding global = Binding.NONE;
        private Binding address = Binding.NONE;

        /** Creates the engine and the bindings. */
        @Setup
        public void prepare() {
            engine = LocalEngines.engine(
                    DeployedListeners.of(metrics),
                    new TopKeysTracker(new KeyMasker(Optional.empty()), System::nanoTime));
            global = LocalEngines.binding("global", algorithm);
            address = LocalEngines.binding("ip", algorithm);
        }
    }

    /** The local backend without an engine. */
    @State(Scope.Benchmark)
    public static class Alone {
        private final LocalBackend backend = new LocalBackend(MAX_KEYS);
        private final Binding address = LocalEngines.binding("ip");

        private Decision acquire(String key) {
            return backend.acquire(
                    List.of(new Charge(address.policies().get(0).policy().limits(), key, 1)));
        }
    }

    /** Other limiters, each behind a cache with a bounded number of keys. */
    @State(Scope.Benchmark)
    public static class Peers {
        private final Cache<String, Bucket> buckets = cache();
        private final Cache<String, RateLimiter> limiters = cache();
        private final Cache<String, AtomicLong> counters = cache();
        private final RateLimiterConfig config = RateLimiterConfig.custom()
                .limitForPeriod(1_000_000_000)
                .limitRefreshPeriod(Duration.ofHours(1))
                .timeoutDuration(Duration.ZERO)
                .build();

        private static <T> Cache<String, T> cache() {
            return Caffeine.newBuilder().maximumSize(MAX_KEYS).build();
        }

        private static Bucket bucket() {
            return Bucket.builder()
                    .addLimit(limit -> limit.capacity(1_000_000_000).refillGreedy(1_000_000_000, Duration.ofHours(1)))
                    .build();
        }
    }

    /** Decides calls with one key per address. */
    @Benchmark
    public Decision weir(Deployed weir, Callers callers, Position position) {
        return weir.engine.decide(weir.address, position.caller(callers), null);
    }

    /** Decides calls of a key that all callers share. */
    @Benchmark
    public Decision weirSharedKey(Deployed weir, Callers callers, Position position) {
        return weir.engine.decide(weir.global, position.caller(callers), null);
    }

    /** Decides calls of a shared key from 64 threads. It measures throughput, because the lock is not fair. */
    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    @Threads(64)
    public Decision weirSharedKeyOf64Threads(Deployed weir, Callers callers, Position position) {
        return weir.engine.decide(weir.global, position.caller(callers), null);
    }

    /** Decides calls with one key per address in the backend only. */
    @Benchmark
    public Decision weirBackendAlone(Alone weir, Callers callers, Position position) {
        return weir.acquire(position.caller(callers).address());
    }

    /** Decides calls with one bucket of Bucket4j per address. */
    @Benchmark
    public boolean bucket4j(Peers peers, Callers callers, Position position) {
        return peers.buckets
                .get(position.caller(callers).address(), address -> Peers.bucket())
                .tryConsume(1);
    }

    /** Decides calls with one limiter of Resilience4j per address. */
    @Benchmark
    public boolean resilience4j(Peers peers, Callers callers, Position position) {
        return peers.limiters
                .get(position.caller(callers).address(), address -> RateLimiter.of(address, peers.config))
                .acquirePermission();
    }

    /** Counts the calls of each address, which is the least work of a limiter. */
    @Benchmark
    public long counter(Peers peers, Callers callers, Position position) {
        return peers.counters
                .get(position.caller(callers).address(), address -> new AtomicLong())
                .incrementAndGet();
    }
}
