// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.RateLimitEngine;
import io.weir.ratelimit.interceptor.heavy.HeavyKeys;
import io.weir.ratelimit.interceptor.key.ShownKeys;
import io.weir.ratelimit.spi.CallContext;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
import org.openjdk.jmh.annotations.Warmup;

/** What it costs to count who calls most often: the difference to {@code counted=false} is the price. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
@Fork(3)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class HeavyKeysBenchmark {
    /** Whether callers are counted. */
    @Param({"false", "true"})
    public boolean counted;

    private final CallContext call = new Callers.Address("10.1.2.3");
    private final Binding binding = Callers.binding("ip");
    private final AtomicInteger threads = new AtomicInteger();
    private RateLimitEngine engine = Callers.engine(List.of());

    /** Each thread's own addresses, every one of them new. */
    @State(Scope.Thread)
    public static class Flood {
        private int high;
        private int next;

        /** Gives a thread its addresses. */
        @Setup
        public void begin(HeavyKeysBenchmark benchmark) {
            high = benchmark.threads.incrementAndGet();
        }

        private CallContext caller() {
            next++;
            return new Callers.Address(
                    (high & 0xff) + "." + (next >> 16 & 0xff) + "." + (next >> 8 & 0xff) + "." + (next & 0xff));
        }
    }

    /** Makes the engine. */
    @Setup
    public void prepare() {
        engine = Callers.engine(
                List.of(), counted ? new HeavyKeys(new ShownKeys(Optional.empty()), System::nanoTime) : HeavyKeys.NONE);
    }

    /** One caller. */
    @Benchmark
    public Decision hot() {
        return engine.decide(binding, call);
    }

    /** Callers who come once each, more than the store in process remembers. */
    @Benchmark
    public Decision flood(Flood flood) {
        return engine.decide(binding, flood.caller());
    }
}
