// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.engine.FakeBackend;
import io.weir.ratelimit.core.engine.Fixtures;
import io.weir.ratelimit.core.engine.ManualSleeper;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The permits that several instances allow together under {@code on-failure=local}. */
class InstanceShareTest {
    private static final long SEED = Long.getLong("weir.test.seed", 1);
    private static final BackendException UNAVAILABLE = FakeBackend.down(Reason.TIMEOUT);

    private final ManualTime time = new ManualTime();

    private FailureModes instance(int instances) {
        return new FailureModes(() -> instances, () -> new LocalBackend(100, time));
    }

    private static Policy policy(Limit limit) {
        return Policy.builder(new PolicyLimits("a", List.of(limit)), KeyExpression.parse("ip", new KeyTerms(32, 64)))
                .onFailure(FailureMode.LOCAL)
                .maxWaiting(1)
                .build();
    }

    @Test
    void theShareOfACalendarLimitHasTheSamePeriods() {
        CalendarPeriod period = new CalendarPeriod(CalendarPeriod.Unit.MONTH, ZoneId.of("Europe/Berlin"), 15);
        Charge charge = new Charge(new PolicyLimits("a", List.of(Limit.of(10, period))), "k", 1);

        assertThat(new InstanceShare(4).of(charge).policy().limits()).containsExactly(Limit.of(2, period));
    }

    /** Calls until each instance rejects. No permits return, because the clock stands still. */
    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void allInstancesTogetherAllowTheLimitOrOneCallEach(Algorithm algorithm) {
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
            int exceeding = 0;
            for (int i = 0; i < instances; i++) {
                FailureModes modes = instance(instances);
                long here = 0;
                while (decide(modes, policy, cost).allowed()) {
                    here += cost;
                    assertThat(here).isLessThanOrEqualTo(Math.max(cost, limit.capacity()));
                }
                exceeding += here > Math.max(1, limit.capacity() / instances) ? 1 : 0;
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
                assertThat(exceeding).as(what).isZero();
            }
        }
    }

    private static Decision.Degraded decide(FailureModes modes, Policy policy, long cost) {
        return modes.decide(
                binding(cost, policy), List.of(new Charge(policy.limits(), "i.203.0.113.7", cost)), UNAVAILABLE);
    }

    @Test
    void allInstancesTogetherKeepTheRate() {
        Policy policy = policy(Limit.of(Algorithm.TOKEN_BUCKET, 60, Duration.ofMinutes(1), 12));
        List<FailureModes> instances =
                IntStream.range(0, 6).mapToObj(i -> instance(6)).toList();
        int allowed = 0;
        for (int tick = 0; tick < 600; tick++) {
            for (FailureModes instance : instances) {
                allowed += decide(instance, policy, 1).allowed() ? 1 : 0;
            }
            time.advanceMicros(1_000_000);
        }
        assertThat(allowed).isBetween(600, 600 + 12);
    }

    /** A backend that the test makes unavailable and available. */
    private static final class Flapping extends FakeBackend {
        private final LocalBackend shared;
        private boolean unavailable;

        Flapping(LocalBackend shared) {
            this.shared = shared;
        }

        @Override
        public Decision acquire(List<Charge> charges) {
            if (unavailable) {
                throw UNAVAILABLE;
            }
            return shared.acquire(charges);
        }
    }

    /** The limit of the backend and the share of each instance are the most that callers get, however often the backend fails. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 10, 100})
    void aFlappingBackendAllowsItsLimitAndTheSharesAtMost(int flaps) {
        Policy policy = policy(Limit.of(Algorithm.FIXED_WINDOW, 90, Duration.ofMinutes(1)));
        LocalBackend shared = new LocalBackend(10, time);
        List<Flapping> stores =
                IntStream.range(0, 3).mapToObj(i -> new Flapping(shared)).toList();
        List<RateLimitEngine> engines = new ArrayList<>();
        for (Flapping store : stores) {
            BackendHealth health = new BackendHealth(store, true, false, () -> time.micros() * 1_000, List.of());
            engines.add(engine(
                    new FallbackBackend(store, instance(3), health, Fixtures.DEADLINE), new ManualSleeper(time)));
        }
        for (int window = 0; window < 3; window++) {
            int allowed = 0;
            for (int call = 0; call < 600; call++) {
                boolean unavailable = call * (2 * flaps) / 600 % 2 == 0;
                stores.forEach(backend -> backend.unavailable = unavailable);
                Decision decision =
                        engines.get(call % 3).decide(binding(1, policy), TestCall.fromAddress("203.0.113.7"), null);
                allowed += decision.allowed() ? 1 : 0;
                time.advanceMicros(60_000);
            }
            assertThat(allowed).as("allowed in 36 s of a window of a minute").isEqualTo(90 + 3 * 30);
            time.advanceMicros(60_000_000);
        }
    }
}
