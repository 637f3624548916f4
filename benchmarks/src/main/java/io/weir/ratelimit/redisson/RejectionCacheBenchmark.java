// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
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
 * The cost of the rejection cache: for a call that it rejects, for a call that it does not contain, and for an allowed call. Each
 * measurement includes the creation of the keys, which {@code keysOnly} measures alone.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
@Fork(1)
@Warmup(iterations = 10, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 10, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class RejectionCacheBenchmark {
    private static final long REDIS_NOW = 1_763_638_242_123_457L;
    private static final long PERMITS = 1_000_000;
    private static final RedisTime SPENT = new RedisTime(REDIS_NOW, 0, 0);

    /** The number of limits of the call. */
    @Param({"1", "3"})
    public int limits;

    /** The algorithm of the limits. */
    @Param("SLIDING_WINDOW")
    public Algorithm algorithm = Algorithm.SLIDING_WINDOW;

    private final RejectionCache cache = new RejectionCache(RedisKeys.of("default"));
    private PolicyLimits policy = policy(1);
    private List<Charge> rejected = List.of();
    private List<Charge> unknown = List.of();

    private PolicyLimits policy(int count) {
        List<Limit> all = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            all.add(Limit.of(algorithm, PERMITS, Duration.ofHours(i)));
        }
        return new PolicyLimits("api", all);
    }

    /** Fills the cache with a reply from the future, so that the reply does not expire during an iteration. */
    @Setup(Level.Iteration)
    public void fillCache() {
        policy = policy(limits);
        rejected = List.of(new Charge(policy, "i.203.0.113.7", PERMITS / 2));
        unknown = List.of(new Charge(policy, "i.203.0.113.8", PERMITS / 2));
        List<LimitState> states = policy.limits().stream()
                .<LimitState>map(limit -> LimitState.untouched(limit, REDIS_NOW).spend(limit, PERMITS, REDIS_NOW))
                .toList();
        List<String> keys = keys(rejected);
        long later = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
        cache.put(
                ChargeStates.split(rejected, states),
                keys,
                new RedisTime(REDIS_NOW, later, later),
                cache.version(keys));
    }

    private static List<String> keys(List<Charge> charges) {
        List<String> keys = new ArrayList<>();
        for (Charge charge : charges) {
            keys.add("weir:2:{default:" + charge.storedKey() + "}:"
                    + charge.policy().policy());
        }
        return keys;
    }

    /** Creates the keys alone. */
    @Benchmark
    public List<String> keysOnly() {
        return keys(rejected);
    }

    /** Rejects a call from the cache. */
    @Benchmark
    public Decision.Rejected cached() {
        return cache.find(rejected, keys(rejected), System.nanoTime()).orElseThrow();
    }

    /** Finds no rejection of a call. */
    @Benchmark
    public Optional<Decision.Rejected> unknown() {
        return cache.find(unknown, keys(unknown), System.nanoTime());
    }

    /** Performs the steps of an allowed call: reads the version before the request is sent, and removes the states. */
    @Benchmark
    public long allowed() {
        List<String> keys = keys(unknown);
        long version = cache.version(keys);
        cache.remove(keys, SPENT);
        return version;
    }
}
