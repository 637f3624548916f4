// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.engine.Binding;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.spi.CallContext;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

/** The time of a decision with the local backend, without a container. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class LocalDecisionBenchmark {
    /** The number of callers: one with a hot key, or many. */
    @Param({"1", "10000"})
    public int callers;

    /** The algorithm of the limit. */
    @Param({"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    public Algorithm algorithm = Algorithm.SLIDING_WINDOW;

    private RateLimitEngine engine = LocalEngines.engine(List.of());
    private Binding global = Binding.NONE;
    private Binding address = Binding.NONE;
    private CallContext[] calls = {};

    /** The position of a thread in the ring of callers. */
    @State(Scope.Thread)
    public static class Position {
        private int next;
    }

    /** Creates the callers and the bindings. */
    @Setup
    public void prepare() {
        engine = LocalEngines.engine(List.of());
        global = LocalEngines.binding("global", algorithm);
        address = LocalEngines.binding("ip", algorithm);
        calls = new CallContext[callers];
        for (int i = 0; i < callers; i++) {
            calls[i] = new LocalEngines.AddressCall("10.1." + i / 256 + "." + i % 256);
        }
    }

    /** Decides calls of a key that all callers share. */
    @Benchmark
    public Decision sharedKey(Position position) {
        return engine.decide(global, caller(position), null);
    }

    /** Decides calls with one key per address. */
    @Benchmark
    public Decision separateKeys(Position position) {
        return engine.decide(address, caller(position), null);
    }

    /** Decides calls of a shared key from 64 threads. It measures throughput, because the lock is not fair. */
    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    @Threads(64)
    public Decision sharedKeyOf64Threads(Position position) {
        return engine.decide(global, caller(position), null);
    }

    private CallContext caller(Position position) {
        position.next = position.next + 1 == calls.length ? 0 : position.next + 1;
        return calls[position.next];
    }
}
