// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.RateLimitEngine;
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

/** What a decision costs where nothing leaves the process: from the call to the answer, without a container. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class LocalDecisionBenchmark {
    /** How many callers there are: one whose key is hot, or many. */
    @Param({"1", "10000"})
    public int callers;

    /** How the limit counts. */
    @Param({"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    public Algorithm algorithm = Algorithm.SLIDING_WINDOW;

    private RateLimitEngine engine = Callers.engine(List.of());
    private Binding global = Binding.NONE;
    private Binding address = Binding.NONE;
    private CallContext[] calls = {};

    /** A place in the ring of callers, for each thread its own. */
    @State(Scope.Thread)
    public static class Turn {
        private int next;
    }

    /** Makes the callers and the policies. */
    @Setup
    public void prepare() {
        engine = Callers.engine(List.of());
        global = Callers.binding("global", algorithm);
        address = Callers.binding("ip", algorithm);
        calls = new CallContext[callers];
        for (int i = 0; i < callers; i++) {
            calls[i] = new Callers.Address("10.1." + i / 256 + "." + i % 256);
        }
    }

    /** One limit that everyone shares. */
    @Benchmark
    public Decision sharedByAll(Turn turn) {
        return engine.decide(global, caller(turn));
    }

    /** One limit for each address. */
    @Benchmark
    public Decision byAddress(Turn turn) {
        return engine.decide(address, caller(turn));
    }

    /** The same from 64 threads at once, all together. The lock is not fair, so a mean time of the threads would tell nothing. */
    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    @Threads(64)
    public Decision sharedByAllOf64Threads(Turn turn) {
        return engine.decide(global, caller(turn));
    }

    private CallContext caller(Turn turn) {
        turn.next = turn.next + 1 == calls.length ? 0 : turn.next + 1;
        return calls[turn.next];
    }
}
