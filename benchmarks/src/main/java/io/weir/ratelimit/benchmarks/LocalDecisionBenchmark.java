// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.Outages;
import io.weir.ratelimit.interceptor.engine.RateLimitEngine;
import io.weir.ratelimit.interceptor.key.IdentityEncoder;
import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.interceptor.local.LocalBackend;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
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
    @Param({"SLIDING_WINDOW", "TOKEN_BUCKET"})
    public Algorithm algorithm = Algorithm.SLIDING_WINDOW;

    private RateLimitEngine engine = engine();
    private Binding global = Binding.NONE;
    private Binding address = Binding.NONE;
    private CallContext[] calls = {};

    /** A place in the ring of callers, for each thread its own. */
    @State(Scope.Thread)
    public static class Turn {
        private int next;
    }

    private static RateLimitEngine engine() {
        return new RateLimitEngine(
                new LocalBackend(100_000),
                new IdentityEncoder(Optional.empty()),
                List.of(),
                new Outages("local", System::nanoTime, List.of()));
    }

    /** Makes the callers and the policies. */
    @Setup
    public void prepare() {
        engine = engine();
        global = binding("global");
        address = binding("ip");
        calls = new CallContext[callers];
        for (int i = 0; i < callers; i++) {
            calls[i] = new Caller("10.1." + i / 256 + "." + i % 256);
        }
    }

    private Binding binding(String key) {
        Limit limit = Limit.of(algorithm, 1_000_000_000, Duration.ofHours(1));
        Policy policy = new Policy(
                new PolicyLimits(key, List.of(limit)),
                KeyExpression.parse(key, new KeyTerms(32, 64)),
                1,
                FailureMode.OPEN);
        return new Binding("Benchmark." + key, List.of(new Binding.Costed(policy, 1)));
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

    private CallContext caller(Turn turn) {
        turn.next = turn.next + 1 == calls.length ? 0 : turn.next + 1;
        return calls[turn.next];
    }

    private record Caller(String address) implements CallContext {
        @Override
        public Optional<String> peerAddress() {
            return Optional.of(address);
        }

        @Override
        public Optional<String> principal() {
            return Optional.empty();
        }

        @Override
        public Optional<String> header(String name) {
            return Optional.empty();
        }

        @Override
        public Optional<Object> argument(String name) {
            return Optional.empty();
        }
    }
}
