// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** A decision on Redis and the floor under it. For their ratio see {@link RedisRatio}, which machine noise harms less. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class RedisDecisionBenchmark {
    /** How the limits count. */
    @Param({"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET"})
    public Algorithm algorithm = Algorithm.SLIDING_WINDOW;

    /** How many limits a decision is about. */
    @Param({"1", "3"})
    public int limits;

    private @Nullable RedisContenders contenders;

    /** Connects. */
    @Setup(Level.Trial)
    public void connect() {
        contenders = new RedisContenders(algorithm, limits);
    }

    /** Disconnects. */
    @TearDown(Level.Trial)
    public void disconnect() {
        contenders().close();
    }

    /** A decision. */
    @Benchmark
    public Decision decision() {
        return contenders().decision();
    }

    /** A script that does nothing. */
    @Benchmark
    public Object floor() {
        return contenders().floor();
    }

    private RedisContenders contenders() {
        if (contenders == null) {
            throw new IllegalStateException("not connected");
        }
        return contenders;
    }
}
