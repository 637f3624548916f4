// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * What the memory of refusals costs: a call that is refused from it, one of which it knows nothing, one that was let in. The keys
 * are new texts each time, as a call's are; {@code texts} is what making them costs.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
@Fork(1)
@Warmup(iterations = 10, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 10, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class RememberedRefusalBenchmark {
    private static final long REDIS_NOW = 1_763_638_242_123_457L;
    private static final long PERMITS = 1_000_000;

    /** How many limits the call has. */
    @Param({"1", "3"})
    public int limits;

    /** How they count. */
    @Param({"SLIDING_WINDOW", "TOKEN_BUCKET"})
    public Algorithm algorithm = Algorithm.SLIDING_WINDOW;

    private final RefusalMemory memory = new RefusalMemory();
    private PolicyLimits policy = policy(1);
    private List<Charge> refused = List.of();
    private List<Charge> unknown = List.of();

    private PolicyLimits policy(int count) {
        List<Limit> all = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            all.add(Limit.of(algorithm, PERMITS, Duration.ofHours(i)));
        }
        return new PolicyLimits("api", all);
    }

    /** The reply comes from the future, so that it never is a second old, however long an iteration takes. */
    @Setup(Level.Iteration)
    public void remember() {
        policy = policy(limits);
        refused = List.of(new Charge(policy, "i.203.0.113.7", PERMITS / 2));
        unknown = List.of(new Charge(policy, "i.203.0.113.8", PERMITS / 2));
        List<LimitState> states = policy.limits().stream()
                .<LimitState>map(limit -> LimitState.untouched(limit, REDIS_NOW).spend(limit, PERMITS, REDIS_NOW))
                .toList();
        List<String> keys = keys(refused);
        long later = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
        memory.remember(refused, keys, states, REDIS_NOW, later, later, memory.stamp(keys));
    }

    private static List<String> keys(List<Charge> charges) {
        List<String> keys = new ArrayList<>();
        for (Charge charge : charges) {
            String head = "weir:1:{default:" + charge.identity() + "}:";
            for (int i = 0; i < charge.policy().limits().size(); i++) {
                keys.add(head + charge.policy().keyTail(i));
            }
        }
        return keys;
    }

    /** Keys alone. */
    @Benchmark
    public List<String> texts() {
        return keys(refused);
    }

    /** A call that is refused. */
    @Benchmark
    public Decision.Rejected recalled() {
        return memory.recall(refused, keys(refused), System.nanoTime()).orElseThrow();
    }

    /** A call that goes to Redis. */
    @Benchmark
    public Optional<Decision.Rejected> unknown() {
        return memory.recall(unknown, keys(unknown), System.nanoTime());
    }

    /** A call that Redis has let in, with what is read before it is sent. */
    @Benchmark
    public long admitted() {
        List<String> keys = keys(unknown);
        long stamp = memory.stamp(keys);
        memory.admitted(keys);
        return stamp;
    }
}
