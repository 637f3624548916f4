// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.runtime.LiveInstances;
import io.weir.ratelimit.runtime.Weir;
import io.weir.ratelimit.runtime.WeirBuilder;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The learned number of instances while Redis is stopped, and after Redis has lost its data. */
@Tag("fault")
@Timeout(120)
class LiveInstancesInOutageTest {
    private static final Duration SOON = Duration.ofSeconds(40);
    private static final int PERMITS = 9;

    /** An instance whose presence the test records. */
    private record Instance(RedissonBackend backend, LiveInstances live, AtomicInteger unanswered, RateLimiter limiter)
            implements AutoCloseable {
        static Instance on(RedisProcess redis) {
            RedissonBackend backend = new TestConfig(Map.of(RedisSettings.ADDRESS, redis.address()))
                    .withDeadline(FaultCalls.DEADLINE)
                    .started();
            FaultCalls.awaitDecision(backend);
            FleetStore.Presence presence =
                    backend.capability(FleetStore.Presence.class).orElseThrow();
            AtomicInteger unanswered = new AtomicInteger();
            LiveInstances live = new LiveInstances(instance -> {
                unanswered.incrementAndGet();
                return presence.present(instance).whenComplete((number, failure) -> unanswered.decrementAndGet());
            });
            Policy policy = Policy.builder(
                            new PolicyLimits(
                                    "api", List.of(Limit.of(Algorithm.FIXED_WINDOW, PERMITS, Duration.ofDays(1)))),
                            KeyExpression.parse("principal", new KeyTerms(32, 64)))
                    .onFailure(FailureMode.LOCAL)
                    .build();
            FailureModes modes = new FailureModes(live, () -> new LocalBackend(100));
            return new Instance(
                    backend,
                    live,
                    unanswered,
                    new EngineRateLimiter(
                            RedisEngine.of(RedisEngine.withFallback(backend, modes, RedisEngine.DEADLINE)),
                            () -> Map.of("api", policy),
                            () -> Runnable::run,
                            Optional::empty));
        }

        void awaitNumber(int expected) {
            Await.until(expected + " instances", SOON, () -> {
                live.run();
                return live.getAsInt() == expected;
            });
        }

        @Override
        public void close() {
            backend.close();
        }
    }

    private static long allowed(RateLimiter limiter, String key) {
        return Stream.generate(() -> limiter.acquire("api", key).allowed())
                .limit(2 * PERMITS)
                .filter(allowed -> allowed)
                .count();
    }

    @Test
    void anOutageKeepsTheNumberAndEachInstanceAllowsItsShare() {
        try (RedisProcess redis = RedisProcess.started();
                Instance first = Instance.on(redis);
                Instance second = Instance.on(redis);
                Instance third = Instance.on(redis)) {
            List<Instance> all = List.of(first, second, third);
            all.forEach(instance -> instance.live().run());
            all.forEach(instance -> instance.awaitNumber(3));
            redis.kill();
            for (Instance instance : all) {
                instance.live().run();
                assertThat(allowed(instance.limiter(), "killed")).isEqualTo(PERMITS / 3);
            }
            redis.start();
            FaultCalls.awaitDecision(first.backend());
            try (RedisConnection connection = redis.connect()) {
                Await.until("one presence", SOON, () -> {
                    boolean recorded = times(connection, "default").count() == 1;
                    // A connection that was lost fails the first record, and a second one would be counted.
                    if (!recorded && first.unanswered().get() == 0) {
                        first.live().run();
                    }
                    return recorded;
                });
            }
            FaultCalls.awaitDecision(first.backend());
            assertThat(first.live().getAsInt())
                    .as("Redis has lost its data, and counts one instance")
                    .isEqualTo(3);
            redis.kill();
            assertThat(allowed(first.limiter(), "killed again")).isEqualTo(PERMITS / 3);
            redis.start();
            first.awaitNumber(1);
            Await.until(
                    "all answers to the first", SOON, () -> first.unanswered().get() == 0);
            second.awaitNumber(2);
            assertThat(first.live().getAsInt()).isEqualTo(1);
            first.awaitNumber(2);
        }
    }

    /** The instances record their presence every five seconds. */
    @Test
    @Tag("ci")
    void instancesInPlainJavaDivideTheLimitInAnOutage() {
        try (RedisProcess redis = RedisProcess.started()) {
            WeirBuilder builder = Weir.builder()
                    .property("ratelimit.redis.address", redis.address())
                    .property("ratelimit.namespace", "shop")
                    .property("ratelimit.policies.api.limit", PERMITS + "/1d")
                    .property("ratelimit.policies.api.on-failure", "local");
            try (Weir first = builder.build();
                    Weir second = builder.build();
                    Weir third = builder.build();
                    RedisConnection connection = redis.connect()) {
                List<Weir> all = List.of(first, second, third);
                long complete = awaitPresences(connection, 0);
                awaitPresences(connection, complete + 1);
                // A decision comes after the answer that the instance has received before.
                all.forEach(weir -> weir.limiter().acquire("api", "before"));
                redis.kill();
                assertThat(all.stream().map(weir -> allowed(weir.limiter(), "killed")))
                        .containsOnly((long) PERMITS / 3);
            }
        }
    }

    /** Waits until three instances have recorded their presence at or after a time. Returns the time of the last one. */
    private static long awaitPresences(RedisConnection connection, long millis) {
        long[] last = new long[1];
        Await.until("three presences", SOON, () -> {
            long[] times = times(connection, "shop").toArray();
            last[0] = LongStream.of(times).max().orElse(0);
            return times.length == 3 && LongStream.of(times).allMatch(time -> time >= millis);
        });
        return last[0];
    }

    /** Returns the times at which the instances of a namespace have recorded their presence last. */
    private static LongStream times(RedisConnection connection, String namespace) {
        return connection
                .text("GET", "weir:2:{" + namespace + ":instances}:+present")
                .lines()
                .filter(line -> line.contains(" "))
                .mapToLong(line -> Long.parseLong(line.split(" ")[1]));
    }
}
