// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import static io.weir.ratelimit.interceptor.engine.Fixtures.binding;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.heavy.HeavyKeys;
import io.weir.ratelimit.interceptor.key.Calls;
import io.weir.ratelimit.interceptor.key.IdentityEncoder;
import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.interceptor.local.LocalBackend;
import io.weir.ratelimit.interceptor.policy.Overrides;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.ManualTime;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Several instances, and how much they admit together under {@code on-failure=local}. */
class SharesTest {
    private static final long SEED = Long.getLong("weir.test.seed", 1);
    private static final BackendException AWAY = FakeBackend.down(Reason.TIMEOUT);

    private final ManualTime time = new ManualTime();

    private Fallback instance(int instances) {
        return new Fallback(instances, () -> new LocalBackend(100, time));
    }

    private static Policy policy(Limit limit) {
        return new Policy(
                new PolicyLimits("a", List.of(limit)),
                KeyExpression.parse("ip", new KeyTerms(32, 64)),
                1,
                FailureMode.LOCAL,
                1);
    }

    /** Everybody calls as often as possible; nothing returns meanwhile, since the clock stands. */
    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void allInstancesAdmitNoMoreThanTheLimitTogetherOrOneCallEach(Algorithm algorithm) {
        System.out.printf("shares of %s: -Dweir.test.seed=%d%n", algorithm, SEED);
        Random random = new Random(SEED);
        for (int round = 0; round < 300; round++) {
            long permits = random.nextInt(4) == 0 ? random.nextInt(3) : random.nextInt(400);
            Duration window = Duration.ofMillis(1 + random.nextInt(100_000));
            boolean bucket = algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET;
            Limit limit = bucket
                    ? Limit.of(algorithm, permits, window, 1 + random.nextInt(300))
                    : Limit.of(algorithm, permits, window);
            int instances = 1 + random.nextInt(20);
            long cost = random.nextInt(3) == 0 ? 1 + random.nextInt(20) : 1;
            Policy policy = policy(limit);
            long spent = 0;
            int dear = 0;
            for (int i = 0; i < instances; i++) {
                Fallback fallback = instance(instances);
                long here = 0;
                while (decide(fallback, policy, cost).allowed()) {
                    here += cost;
                    assertThat(here).isLessThanOrEqualTo(Math.max(cost, limit.capacity()));
                }
                dear += here > Math.max(1, limit.capacity() / instances) ? 1 : 0;
                spent += here;
            }
            String what =
                    limit + " by " + instances + ", cost " + cost + ", round " + round + ", -Dweir.test.seed=" + SEED;
            if (limit.capacity() == 0 || cost > limit.capacity()) {
                assertThat(spent).as(what).isZero();
            } else if (limit.capacity() / instances < cost) {
                assertThat(spent).as(what).isEqualTo(instances * cost);
            } else {
                assertThat(spent).as(what).isLessThanOrEqualTo(limit.capacity());
                assertThat(spent).as(what).isGreaterThan(limit.capacity() - instances * cost);
                assertThat(dear).as(what).isZero();
            }
        }
    }

    private static Decision.Degraded decide(Fallback fallback, Policy policy, long cost) {
        return fallback.decide(
                binding(cost, policy), List.of(new Charge(policy.limits(), "i.203.0.113.7", cost)), AWAY);
    }

    @Test
    void inTheLongRunTheInstancesTogetherKeepTheRate() {
        Policy policy = policy(Limit.of(Algorithm.TOKEN_BUCKET, 60, Duration.ofMinutes(1), 12));
        List<Fallback> instances =
                IntStream.range(0, 6).mapToObj(i -> instance(6)).toList();
        int admitted = 0;
        for (int tick = 0; tick < 600; tick++) {
            for (Fallback instance : instances) {
                admitted += decide(instance, policy, 1).allowed() ? 1 : 0;
            }
            time.advanceMicros(1_000_000);
        }
        assertThat(admitted).isBetween(600, 600 + 12);
    }

    /** A store that the test takes away and brings back. */
    private static final class Flapping extends FakeBackend {
        private final LocalBackend shared;
        private boolean away;

        Flapping(LocalBackend shared) {
            this.shared = shared;
        }

        @Override
        public Decision acquire(List<Charge> charges) {
            if (away) {
                throw AWAY;
            }
            return shared.acquire(charges);
        }
    }

    /** What the store has given away, and in each instance its share: more is not to be had by coming and going. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 10, 100})
    void aStoreThatComesAndGoesAdmitsNoMoreThanItsLimitAndTheShares(int flaps) {
        Policy policy = policy(Limit.of(Algorithm.FIXED_WINDOW, 90, Duration.ofMinutes(1)));
        LocalBackend shared = new LocalBackend(10, time);
        List<Flapping> stores =
                IntStream.range(0, 3).mapToObj(i -> new Flapping(shared)).toList();
        List<RateLimitEngine> engines = new ArrayList<>();
        for (Flapping store : stores) {
            engines.add(new RateLimitEngine(
                    store,
                    instance(3),
                    new IdentityEncoder(Optional.empty()),
                    List.of(),
                    new Outages("redisson", () -> time.micros() * 1_000, List.of()),
                    new ManualPause(time),
                    Overrides.NONE,
                    HeavyKeys.NONE));
        }
        for (int window = 0; window < 3; window++) {
            int admitted = 0;
            for (int call = 0; call < 600; call++) {
                boolean away = call * (2 * flaps) / 600 % 2 == 0;
                stores.forEach(store -> store.away = away);
                Decision decision = engines.get(call % 3).decide(binding(1, policy), Calls.from("203.0.113.7"));
                admitted += decision.allowed() ? 1 : 0;
                time.advanceMicros(60_000);
            }
            assertThat(admitted).as("admitted in 36 s of a window of a minute").isEqualTo(90 + 3 * 30);
            time.advanceMicros(60_000_000);
        }
    }
}
