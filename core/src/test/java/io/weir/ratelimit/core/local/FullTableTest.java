// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static io.weir.ratelimit.core.local.Keys.FIVE_AN_HOUR;
import static io.weir.ratelimit.core.local.Keys.ONE_A_SECOND;
import static io.weir.ratelimit.core.local.Keys.allowed;
import static io.weir.ratelimit.core.local.Keys.charge;
import static io.weir.ratelimit.core.local.Keys.decide;
import static io.weir.ratelimit.core.local.Keys.exhaust;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Decisions on new keys while all places of the table are in use. */
class FullTableTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final long HOUR_MICROS = HOUR.toMillis() * 1_000;

    private final ManualTime time = new ManualTime();

    /** Returns a backend without a free place until the clock has advanced by a year. */
    private LocalBackend full() {
        LocalBackend backend = new LocalBackend(3, time);
        PolicyLimits year = Keys.policy("year", 5, Duration.ofDays(366));
        for (int i = 0; i < 3; i++) {
            exhaust(backend, year, "old." + i);
        }
        return backend;
    }

    private static PolicyLimits policy(Algorithm algorithm, long permits, Duration window) {
        Limit limit = algorithm == Algorithm.LEAKY_BUCKET
                ? Limit.of(algorithm, permits, window, permits)
                : Limit.of(algorithm, permits, window);
        return new PolicyLimits("api", List.of(limit));
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aNewKeyHasItsLimit(Algorithm algorithm) {
        LocalBackend backend = full();
        PolicyLimits fiveAnHour = policy(algorithm, 5, HOUR);
        for (int caller = 0; caller < 20; caller++) {
            assertThat(allowed(backend, fiveAnHour, "i.203.0.113." + caller, 30))
                    .isEqualTo(5);
        }
        assertThat(backend.size()).isEqualTo(3);
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "SLIDING_LOG"})
    void permitsOfAWindowReturnAfterOneToFiveQuartersOfIt(Algorithm algorithm) {
        LocalBackend backend = full();
        PolicyLimits fiveAnHour = policy(algorithm, 5, HOUR);
        time.advanceMicros(123_456_789);
        assertThat(allowed(backend, fiveAnHour, "new", 30)).isEqualTo(5);
        time.advanceMicros(HOUR_MICROS - 1);
        assertThat(allowed(backend, fiveAnHour, "new", 30)).isZero();
        time.advanceMicros(HOUR_MICROS / 4 + 1);
        assertThat(allowed(backend, fiveAnHour, "new", 30)).isEqualTo(5);
    }

    @Test
    void aKeyKeepsItsPlaceWhileItsPermitsCountUnderALoweredLimit() {
        LocalBackend backend = new LocalBackend(1, time);
        PolicyLimits before = policy(Algorithm.TOKEN_BUCKET, 60, Duration.ofMinutes(1));
        PolicyLimits lowered = policy(Algorithm.TOKEN_BUCKET, 6, Duration.ofMinutes(1));
        assertThat(allowed(backend, before, "k.a", 6)).isEqualTo(6);
        assertThat(allowed(backend, lowered, "k.a", 1)).isZero();
        time.advanceMicros(7_000_000);
        assertThat(allowed(backend, before, "k.b", 1)).isEqualTo(1);
        assertThat(allowed(backend, lowered, "k.a", 1)).isZero();
        time.advanceMicros(3_000_000);
        assertThat(allowed(backend, lowered, "k.a", 6)).isEqualTo(1);
    }

    @Test
    void permitsOfABucketReturnOneByOne() {
        LocalBackend backend = full();
        assertThat(allowed(backend, FIVE_AN_HOUR, "new", 30)).isEqualTo(5);
        for (int i = 0; i < 10; i++) {
            time.advanceMicros(HOUR_MICROS / 5 - 1);
            assertThat(allowed(backend, FIVE_AN_HOUR, "new", 30)).isZero();
            time.advanceMicros(1);
            assertThat(allowed(backend, FIVE_AN_HOUR, "new", 30)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aCallerThatWaitsForTheRetryAfterIsAllowed(Algorithm algorithm) {
        LocalBackend backend = full();
        PolicyLimits fiveAnHour = policy(algorithm, 5, HOUR);
        time.advanceMicros(HOUR_MICROS / 3);
        allowed(backend, fiveAnHour, "new", 5);
        time.advanceMicros(HOUR_MICROS / 10);
        Decision.Rejected rejected = (Decision.Rejected) decide(backend, charge(fiveAnHour, "new"));
        Quota quota = rejected.decisiveQuota();
        assertThat(quota.remaining()).isZero();
        assertThat(Micros.retryAfter(quota)).isBetween(1L, HOUR_MICROS * 3 / 2);
        time.advanceMicros(Micros.retryAfter(quota));
        assertThat(decide(backend, charge(fiveAnHour, "new")).allowed()).isTrue();
    }

    @Test
    void quotasShowTheApproximateState() {
        LocalBackend backend = full();
        for (int left = 4; left >= 0; left--) {
            assertThat(decide(backend, charge(FIVE_AN_HOUR, "new"))
                            .quotas()
                            .get(0)
                            .remaining())
                    .isEqualTo(left);
            assertThat(backend.peek(List.of(charge(FIVE_AN_HOUR, "new"))).get(0).remaining())
                    .isEqualTo(left);
        }
    }

    @Test
    void aCostIsSpentAsAWhole() {
        LocalBackend backend = full();
        PolicyLimits window = policy(Algorithm.FIXED_WINDOW, 10, HOUR);
        assertThat(decide(backend, new Charge(window, "new", 7)).allowed()).isTrue();
        assertThat(decide(backend, new Charge(window, "new", 4)).allowed()).isFalse();
        assertThat(decide(backend, new Charge(window, "new", 3)).allowed()).isTrue();
        assertThat(decide(backend, new Charge(window, "other", 11)).allowed()).isFalse();
        assertThat(allowed(backend, policy(Algorithm.FIXED_WINDOW, 0, HOUR), "new", 3))
                .isZero();
    }

    @Test
    void severalLimitsAndPoliciesAreChargedTogetherOrNotAtAll() {
        LocalBackend backend = new LocalBackend(2, time);
        PolicyLimits two = new PolicyLimits(
                "two",
                List.of(
                        Limit.of(Algorithm.FIXED_WINDOW, 3, Duration.ofMinutes(1)),
                        Limit.of(Algorithm.TOKEN_BUCKET, 5, HOUR)));
        assertThat(decide(backend, charge(FIVE_AN_HOUR, "known")).allowed()).isTrue();
        exhaust(backend, FIVE_AN_HOUR, "other");
        Charge known = charge(FIVE_AN_HOUR, "known");
        for (int i = 0; i < 3; i++) {
            assertThat(decide(backend, known, charge(two, "new")).allowed()).isTrue();
        }
        assertThat(decide(backend, known, charge(two, "new")).allowed()).isFalse();
        assertThat(backend.peek(List.of(known)).get(0).remaining())
                .as("the call that two rejects spends nothing of the known key")
                .isEqualTo(1);
        assertThat(decide(backend, known, charge(two, "newer")).allowed()).isTrue();
        assertThat(decide(backend, known, charge(two, "newer")).allowed()).isFalse();
        assertThat(backend.peek(List.of(charge(two, "newer"))).get(0).remaining())
                .as("the call that the known key rejects spends nothing of the new key")
                .isEqualTo(2);
        time.advanceMicros(75_000_000);
        assertThat(allowed(backend, two, "new", 30)).as("5 per hour").isEqualTo(2);
    }

    @Test
    void aRefundReturnsThePermitsOfStoredKeysOnly() {
        LocalBackend backend = new LocalBackend(1, time);
        decide(backend, charge(FIVE_AN_HOUR, "known"));
        Decision.Allowed both = (Decision.Allowed)
                decide(backend, charge(FIVE_AN_HOUR, "known"), charge(policy(Algorithm.FIXED_WINDOW, 5, HOUR), "new"));
        assertThat(backend.peek(List.of(charge(FIVE_AN_HOUR, "known"))).get(0).remaining())
                .isEqualTo(3);
        backend.refund(both.receipt()).toCompletableFuture().join();
        assertThat(backend.peek(List.of(charge(FIVE_AN_HOUR, "known"))).get(0).remaining())
                .isEqualTo(4);
        backend.refund(charge(policy(Algorithm.FIXED_WINDOW, 5, HOUR), "new"))
                .toCompletableFuture()
                .join();
        backend.reset(List.of(policy(Algorithm.FIXED_WINDOW, 5, HOUR)), "new");
        assertThat(allowed(backend, policy(Algorithm.FIXED_WINDOW, 5, HOUR), "new", 30))
                .isEqualTo(4);
    }

    @Test
    void aChargeOfANewKeyIsNotRefundedWhenTheKeyHasFoundAPlace() {
        LocalBackend backend = new LocalBackend(1, time);
        exhaust(backend, ONE_A_SECOND, "old");
        Decision.Allowed approximate = (Decision.Allowed) decide(backend, charge(FIVE_AN_HOUR, "new"));
        time.advanceMicros(1_000_000);
        assertThat(allowed(backend, FIVE_AN_HOUR, "new", 1)).isEqualTo(1);
        backend.refund(approximate.receipt()).toCompletableFuture().join();
        assertThat(allowed(backend, FIVE_AN_HOUR, "new", 30)).isEqualTo(3);
    }

    @Test
    void aBucketReturnsNoPermitEarly() {
        LocalBackend backend = full();
        PolicyLimits threeASecond = policy(Algorithm.TOKEN_BUCKET, 3, Duration.ofSeconds(1));
        assertThat(allowed(backend, threeASecond, "new", 30)).isEqualTo(3);
        time.advanceMicros(333_333);
        assertThat(allowed(backend, threeASecond, "new", 30)).isZero();
        time.advanceMicros(1);
        assertThat(allowed(backend, threeASecond, "new", 30)).isEqualTo(1);
    }

    @Test
    void tiersOfAPolicyShareTheCountsOfAKey() {
        LocalBackend backend = full();
        assertThat(allowed(backend, policy(Algorithm.SLIDING_WINDOW, 5, HOUR), "new", 30))
                .isEqualTo(5);
        assertThat(allowed(backend, policy(Algorithm.SLIDING_WINDOW, 8, HOUR), "new", 30))
                .isEqualTo(3);
        assertThat(allowed(backend, policy(Algorithm.SLIDING_WINDOW, 2, HOUR), "new", 30))
                .isZero();
    }

    @Test
    void shadowChargesAreLeftOut() {
        LocalBackend backend = full();
        Charge shadow = charge(FIVE_AN_HOUR, "new").asShadow();
        assertThat(backend.acquireApproximately(List.of(shadow))).isEmpty();
        Charge enforced = charge(policy(Algorithm.FIXED_WINDOW, 3, HOUR), "new");
        for (int call = 0; call < 6; call++) {
            Decision decision = call % 2 == 0 ? decide(backend, enforced, shadow) : decide(backend, shadow, enforced);
            assertThat(decision.allowed()).as("call %d", call).isEqualTo(call < 3);
            assertThat(decision.results()).hasSize(2);
            assertThat(decision.results().get(call % 2).quotas()).hasSize(1);
            assertThat(decision.results().get(1 - call % 2).quotas()).isEmpty();
            assertThat(decision.results().get(1 - call % 2).shadow()).isTrue();
        }
        assertThat(allowed(backend, FIVE_AN_HOUR, "new", 30)).isEqualTo(5);
    }

    @Test
    void aCallWaitsForItsSlotInABucket() {
        LocalBackend backend = full();
        PolicyLimits paced = new PolicyLimits(
                "paced",
                List.of(Limit.of(Algorithm.LEAKY_BUCKET, 10, Duration.ofSeconds(1))
                        .withMaxWait(Duration.ofMillis(250))));
        List<Long> waits = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            if (decide(backend, new Charge(paced, "new", 1, 250_000)) instanceof Decision.Allowed allowed) {
                waits.add(allowed.waitMicros());
            }
        }
        assertThat(waits).containsExactly(0L, 100_000L, 200_000L);
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aKeyKeepsItsCountsWhenItFindsAPlace(Algorithm algorithm) {
        LocalBackend backend = new LocalBackend(1, time);
        PolicyLimits fiveAnHour = policy(algorithm, 5, HOUR);
        exhaust(backend, ONE_A_SECOND, "old");
        assertThat(allowed(backend, fiveAnHour, "new", 3)).isEqualTo(3);
        time.advanceMicros(1_000_000);
        assertThat(allowed(backend, fiveAnHour, "new", 30)).isEqualTo(2);
        assertThat(backend.size()).isEqualTo(1);
        assertThat(Keys.hasPlace(backend, ONE_A_SECOND, "another")).isFalse();
        time.advanceMicros(2 * HOUR_MICROS);
        assertThat(allowed(backend, fiveAnHour, "new", 30)).isEqualTo(5);
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aStateIsApproximateUntilTheCountsOfNewKeysHaveExpired(Algorithm algorithm) {
        LocalBackend backend = new LocalBackend(1, time);
        PolicyLimits fiveAnHour = policy(algorithm, 5, HOUR);
        Charge old = charge(ONE_A_SECOND, "old");
        Charge call = charge(fiveAnHour, "new");
        decide(backend, old);
        assertThat(backend.isApproximate(call, 0)).as("nothing counted").isFalse();
        decide(backend, call);
        assertThat(backend.isApproximate(call, 0)).as("no place").isTrue();
        assertThat(backend.isApproximate(charge(policy(algorithm, 0, HOUR), "new"), 0))
                .as("no permits")
                .isFalse();
        assertThat(backend.isApproximate(old, 0)).as("a place").isFalse();

        time.advanceMicros(1_000_000);
        assertThat(backend.acquire(List.of(call)).allowed()).isTrue();
        assertThat(backend.isApproximate(call, 0)).as("a place since then").isTrue();
        backend.block(fiveAnHour, "new", HOUR).toCompletableFuture().join();
        assertThat(backend.isApproximate(call, 0)).as("blocked").isTrue();
        time.advanceMicros(2 * HOUR_MICROS);
        assertThat(backend.isApproximate(call, 0)).as("expired").isFalse();
        assertThat(allowed(backend, fiveAnHour, "new", 30)).isEqualTo(5);
        assertThat(backend.isApproximate(call, 0)).as("exact").isFalse();
    }

    @Test
    void aStateWithoutApproximateCountsIsExactAfterAStepBackOfTheClock() {
        LocalBackend backend = new LocalBackend(3, time);
        Charge call = charge(FIVE_AN_HOUR, "new");
        decide(backend, call);
        time.advanceMicros(-HOUR_MICROS);
        assertThat(backend.isApproximate(call, 0)).isFalse();
    }

    @Test
    void newKeysStillFailAsFullInOtherFailureModes() {
        LocalBackend backend = full();
        allowed(backend, FIVE_AN_HOUR, "new", 1);
        assertThatThrownBy(() -> backend.acquire(List.of(charge(FIVE_AN_HOUR, "new"))))
                .isInstanceOf(BackendException.class)
                .hasMessageContaining("new keys are counted approximately");
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void concurrentCallsOfANewKeyHaveOneLimit() throws Exception {
        int threads = 32;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            for (Algorithm algorithm : Algorithm.values()) {
                LocalBackend backend = full();
                PolicyLimits policy = policy(algorithm, 500, HOUR);
                PolicyLimits other = policy(algorithm, 700, Duration.ofHours(2));
                List<Future<Integer>> results = new ArrayList<>();
                for (int thread = 0; thread < threads; thread++) {
                    int mine = thread;
                    results.add(pool.submit(() -> {
                        int allowed = 0;
                        for (int i = 0; i < 100; i++) {
                            Charge shared = charge(policy, "new");
                            Charge own = charge(other, "own." + mine);
                            allowed += decide(backend, mine % 2 == 0 ? own : shared, mine % 2 == 0 ? shared : own)
                                            .allowed()
                                    ? 1
                                    : 0;
                        }
                        return allowed;
                    }));
                }
                int allowed = 0;
                for (Future<Integer> result : results) {
                    allowed += result.get(60, TimeUnit.SECONDS);
                }
                assertThat(allowed).as("%s", algorithm).isEqualTo(500);
            }
        } finally {
            pool.shutdownNow();
        }
    }
}
