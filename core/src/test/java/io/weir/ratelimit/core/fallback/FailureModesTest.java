// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class FailureModesTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final BackendException OPEN_BREAKER =
            new BackendException(Reason.BREAKER_OPEN, "not asked", null, Duration.ofMillis(12_500));

    private final ManualTime time = new ManualTime();
    private final AtomicInteger created = new AtomicInteger();

    private FailureModes instance(int instances, int maxKeys) {
        return new FailureModes(
                () -> instances,
                () -> {
                    created.incrementAndGet();
                    return new LocalBackend(maxKeys, time);
                },
                bound -> {
                    throw new AssertionError("no policy has the mode sample");
                });
    }

    private static Policy policy(String name, FailureMode onFailure, Policy.Count count, Limit... limits) {
        return Policy.builder(new PolicyLimits(name, List.of(limits)), KeyExpression.parse("ip", new KeyTerms(32, 64)))
                .onFailure(onFailure)
                .maxWaiting(1)
                .count(count)
                .build();
    }

    private static Policy policy(String name, FailureMode onFailure, Limit... limits) {
        return policy(name, onFailure, Policy.Count.ALWAYS, limits);
    }

    private static Limit perMinute(long permits) {
        return Limit.of(Algorithm.FIXED_WINDOW, permits, MINUTE);
    }

    private static Charge charge(Policy policy, long cost) {
        return new Charge(policy.limits(), "i.203.0.113.7", cost);
    }

    private static Decision.Degraded decide(FailureModes modes, Policy policy, long cost) {
        return modes.decide(binding(cost, policy), List.of(charge(policy, cost)), OPEN_BREAKER);
    }

    private static int allowed(FailureModes modes, Policy policy, long cost, int calls) {
        int allowed = 0;
        for (int i = 0; i < calls; i++) {
            allowed += decide(modes, policy, cost).allowed() ? 1 : 0;
        }
        return allowed;
    }

    /** The breaker probes after 12,500 ms. The source of random numbers is asked for 0 to 6,250 ms. */
    @ParameterizedTest
    @CsvSource({"0, 12500", "1, 12501", "6250, 18750"})
    void closedRejectsUntilTheBreakerProbesOrUpToHalfOfTheWaitLonger(int drawn, long millis) {
        List<Integer> bounds = new ArrayList<>();
        FailureModes modes = drawing(drawn, bounds);
        assertThat(decide(modes, policy("a", FailureMode.CLOSED, perMinute(5)), 1))
                .isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, "breaker-open", Duration.ofMillis(millis)));
        assertThat(modes.retryAfter(OPEN_BREAKER)).isEqualTo(Duration.ofMillis(millis));
        assertThat(bounds).containsExactly(6_251, 6_251);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 0", "2, 2", "3, 2", "60000, 30001", "60002, 30001", "9223372036854775807, 30001"})
    void theJitterIsBounded(long waitMillis, int bound) {
        List<Integer> bounds = new ArrayList<>();
        Duration wait = Duration.ofMillis(waitMillis);
        BackendException failure = new BackendException(Reason.BREAKER_OPEN, "not asked", null, wait);
        assertThat(drawing(Math.max(0, bound - 1), bounds).retryAfter(failure))
                .isEqualTo(wait.plusMillis(Math.max(0, bound - 1)));
        assertThat(bounds).isEqualTo(bound == 0 ? List.of() : List.of(bound));
    }

    /** Returns failure modes that draw a number and keep the bounds of the draws. */
    private static FailureModes drawing(int drawn, List<Integer> bounds) {
        return new FailureModes(() -> 5, () -> new LocalBackend(1), bound -> {
            bounds.add(bound);
            return drawn;
        });
    }

    @Test
    void openAllowsWithoutARetryAfter() {
        assertThat(decide(instance(3, 10), policy("a", FailureMode.OPEN, perMinute(0)), 1))
                .isEqualTo(new Decision.Degraded(FailureMode.OPEN, true, "breaker-open"));
        assertThat(created).as("local backends").hasValue(0);
    }

    @Test
    void localCountsInProcessWithARetryAfter() {
        FailureModes modes = instance(3, 10);
        Policy policy = policy("a", FailureMode.LOCAL, perMinute(8));
        assertThat(allowed(modes, policy, 1, 2)).isEqualTo(2);
        time.advanceMicros(10_000_000);
        assertThat(decide(modes, policy, 1))
                .isEqualTo(new Decision.Degraded(FailureMode.LOCAL, false, "breaker-open", Duration.ofSeconds(50)));
        time.advanceMicros(50_000_000);
        assertThat(decide(modes, policy, 1)).isEqualTo(new Decision.Degraded(FailureMode.LOCAL, true, "breaker-open"));
        assertThat(created).hasValue(1);
    }

    @ParameterizedTest
    @CsvSource({"0, 3, 0", "1, 3, 1", "2, 3, 1", "3, 3, 1", "5, 3, 1", "6, 3, 2", "100, 1, 100", "100, 10000, 1"})
    void roundsAShareDownToAtLeastOne(long permits, int instances, int share) {
        assertThat(allowed(instance(instances, 10), policy("a", FailureMode.LOCAL, perMinute(permits)), 1, 200))
                .isEqualTo(share);
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void allowsACostAboveTheShareOfAnUntouchedKey(Algorithm algorithm) {
        Limit limit = isBucket(algorithm) ? Limit.of(algorithm, 100, MINUTE, 100) : Limit.of(algorithm, 100, MINUTE);
        Policy policy = policy("a", FailureMode.LOCAL, limit);
        FailureModes modes = instance(10, 10);
        assertThat(allowed(modes, policy, 50, 5)).isEqualTo(1);
        assertThat(decide(modes, policy, 1).allowed()).as("nothing is left").isFalse();
        assertThat(decide(modes, policy, 101).allowed())
                .as("more than the capacity of the limit")
                .isFalse();
        time.advanceMicros(10 * 60_000_000L);
        assertThat(decide(modes, policy, 1).allowed()).isTrue();
        assertThat(decide(modes, policy, 50).allowed()).as("something is spent").isFalse();
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"TOKEN_BUCKET", "LEAKY_BUCKET"})
    void aLowCostDoesNotForgiveTheDebtOfAHighCost(Algorithm algorithm) {
        Policy policy = policy("a", FailureMode.LOCAL, Limit.of(algorithm, 100, MINUTE, 100));
        FailureModes modes = instance(10, 10);
        assertThat(decide(modes, policy, 50).allowed()).isTrue();
        for (int seconds = 10; seconds <= 240; seconds += 10) {
            time.advanceMicros(10_000_000);
            assertThat(decide(modes, policy, 1).allowed())
                    .as("after %d s, when less than 41 of 50 have returned", seconds)
                    .isFalse();
        }
        time.advanceMicros(10_000_000);
        assertThat(decide(modes, policy, 1).allowed()).isTrue();
        time.advanceMicros(50_000_000);
        assertThat(decide(modes, policy, 50).allowed()).isFalse();
    }

    private static boolean isBucket(Algorithm algorithm) {
        return algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET;
    }

    @Test
    void aLimitOfZeroHasNoRetryAfter() {
        assertThat(decide(instance(2, 10), policy("a", FailureMode.LOCAL, perMinute(0)), 1))
                .isEqualTo(new Decision.Degraded(FailureMode.LOCAL, false, "breaker-open", Duration.ZERO));
    }

    @Test
    void dividesTheBurstOfABucket() {
        Policy policy = policy("a", FailureMode.LOCAL, Limit.of(Algorithm.TOKEN_BUCKET, 60, MINUTE, 20));
        FailureModes modes = instance(4, 10);
        assertThat(allowed(modes, policy, 1, 100)).isEqualTo(5);
        time.advanceMicros(20_000_000);
        assertThat(allowed(modes, policy, 1, 100)).as("15 per minute").isEqualTo(5);
        time.advanceMicros(8_000_000);
        assertThat(allowed(modes, policy, 1, 100)).isEqualTo(2);
    }

    @Test
    void limitsABurstThatAShareRefillsInCenturies() {
        Limit slow = Limit.of(Algorithm.TOKEN_BUCKET, 1_000, Duration.ofDays(366), 200_000);
        assertThat(allowed(instance(1_000, 10), policy("a", FailureMode.LOCAL, slow), 150_000, 5))
                .isEqualTo(1);
    }

    @Test
    void spendsAllOrNothingInProcess() {
        Policy wide = policy("wide", FailureMode.LOCAL, perMinute(4));
        Policy narrow = policy("narrow", FailureMode.LOCAL, perMinute(1));
        FailureModes modes = instance(1, 10);
        List<Charge> both = List.of(charge(wide, 1), charge(narrow, 1));
        for (int i = 0; i < 10; i++) {
            modes.decide(binding(1, wide, narrow), both, OPEN_BREAKER);
        }
        assertThat(allowed(modes, wide, 1, 10)).isEqualTo(3);
    }

    @Test
    void anOpenPolicyStaysOpenBesideALocalPolicy() {
        Policy open = policy("open", FailureMode.OPEN, perMinute(0));
        Policy local = policy("local", FailureMode.LOCAL, perMinute(2));
        Policy sample = policy("sample", FailureMode.SAMPLE, perMinute(1));
        FailureModes modes = instance(1, 10);
        Binding openToo = binding(1, open, local);
        assertThat(modes.decide(openToo, List.of(charge(open, 1), charge(local, 1)), OPEN_BREAKER)
                        .allowed())
                .isTrue();
        Binding sampleToo = binding(1, sample, local);
        List<Charge> both = List.of(charge(sample, 1), charge(local, 1));
        assertThat(modes.decide(sampleToo, both, OPEN_BREAKER).allowed())
                .as("the first of one under sample, the second of two under local")
                .isTrue();
        assertThat(modes.decide(sampleToo, both, OPEN_BREAKER).mode()).isEqualTo(FailureMode.LOCAL);
        assertThat(modes.decide(sampleToo, both, OPEN_BREAKER).allowed()).isFalse();
    }

    @Test
    void rejectsAFloodOfNewKeys() {
        FailureModes modes = instance(1, 3);
        Policy policy = policy("a", FailureMode.LOCAL, perMinute(2));
        int allowed = 0;
        Decision.Degraded last = null;
        for (int i = 0; i < 1_000; i++) {
            last = modes.decide(binding(1, policy), List.of(new Charge(policy.limits(), "i." + i, 1)), OPEN_BREAKER);
            allowed += last.allowed() ? 1 : 0;
        }
        assertThat(allowed).isEqualTo(3);
        assertThat(last).isEqualTo(new Decision.Degraded(FailureMode.LOCAL, false, "full"));
    }

    @Test
    void callsDoNotWaitInAnOutage() {
        Policy bucket = policy(
                "a",
                FailureMode.LOCAL,
                Limit.of(Algorithm.LEAKY_BUCKET, 60, MINUTE).withMaxWait(MINUTE));
        Charge waiting = new Charge(bucket.limits(), "i.203.0.113.7", 1, 60_000_000);
        FailureModes modes = instance(1, 10);
        assertThat(modes.decide(binding(1, bucket), List.of(waiting), OPEN_BREAKER)
                        .allowed())
                .isTrue();
        assertThat(modes.decide(binding(1, bucket), List.of(waiting), OPEN_BREAKER))
                .isEqualTo(new Decision.Degraded(FailureMode.LOCAL, false, "breaker-open", Duration.ofSeconds(1)));
    }

    @ParameterizedTest
    @CsvSource({"0, true", "1, false", "4, false"})
    void sampleAllowsOneNumberOfTheInstances(int drawn, boolean allowed) {
        List<Integer> bounds = new ArrayList<>();
        FailureModes modes = drawing(drawn, bounds);
        assertThat(decide(modes, policy("a", FailureMode.SAMPLE, perMinute(0)), 1))
                .isEqualTo(new Decision.Degraded(FailureMode.SAMPLE, allowed, "breaker-open"));
        assertThat(bounds).containsExactly(5);
    }

    @Test
    void theNumberOfInstancesIsReadForEachDecision() {
        AtomicInteger instances = new AtomicInteger(1);
        List<Integer> bounds = new ArrayList<>();
        FailureModes modes = new FailureModes(instances::get, () -> new LocalBackend(10, time), bound -> {
            bounds.add(bound);
            return 0;
        });
        Policy local = policy("local", FailureMode.LOCAL, perMinute(12));
        Policy sample = policy("sample", FailureMode.SAMPLE, perMinute(12));
        assertThat(allowed(modes, local, 1, 2)).isEqualTo(2);
        instances.set(4);
        assertThat(allowed(modes, local, 1, 10)).as("the rest of a share of 3").isEqualTo(1);
        decide(modes, sample, 1);
        instances.set(2);
        assertThat(allowed(modes, local, 1, 10)).as("the rest of a share of 6").isEqualTo(3);
        decide(modes, sample, 1);
        assertThat(bounds).containsExactly(4, 2);
    }

    @Test
    void sampleAllowsAboutOneCallInTheNumberOfInstances() {
        FailureModes modes = new FailureModes(() -> 4, () -> new LocalBackend(1));
        assertThat(allowed(modes, policy("a", FailureMode.SAMPLE, perMinute(1)), 1, 10_000))
                .isBetween(2_200, 2_800);
    }

    /** Checks the choice against a second implementation. */
    @Test
    void theStrictestModeOfTheChargedPoliciesApplies() {
        long seed = Long.getLong("weir.test.seed", 1);
        System.out.printf("strictest mode: -Dweir.test.seed=%d%n", seed);
        Random random = new Random(seed);
        FailureMode[] all = FailureMode.values();
        for (int round = 0; round < 5_000; round++) {
            List<Policy> policies = new ArrayList<>();
            List<Charge> charges = new ArrayList<>();
            FailureMode expected = FailureMode.OPEN;
            for (int i = random.nextInt(5); i >= 0; i--) {
                FailureMode mode = all[random.nextInt(all.length)];
                Policy policy = policy("p" + i, mode, perMinute(1));
                policies.add(policy);
                switch (random.nextInt(3)) {
                    case 0 -> charges.add(charge(policy, 1).asShadow());
                    case 1 -> { // paid before: it has no charge in this decision
                    }
                    default -> {
                        charges.add(charge(policy, 1));
                        expected = strictness(mode) > strictness(expected) ? mode : expected;
                    }
                }
            }
            FailureModes modes = new FailureModes(() -> 2, () -> new LocalBackend(10, time), bound -> 1);
            Decision.Degraded decision =
                    modes.decide(binding(1, policies.toArray(Policy[]::new)), charges, OPEN_BREAKER);
            assertThat(decision.mode())
                    .as("round %d of -Dweir.test.seed=%d", round, seed)
                    .isEqualTo(expected);
            assertThat(decision.allowed()).isEqualTo(expected == FailureMode.OPEN || expected == FailureMode.LOCAL);
        }
    }

    private static int strictness(FailureMode mode) {
        return switch (mode) {
            case OPEN -> 0;
            case SAMPLE -> 1;
            case LOCAL -> 2;
            case CLOSED -> 3;
        };
    }

    @Test
    void refundsUncountedChargesInProcess() {
        Policy failures = policy("failures", FailureMode.LOCAL, Policy.Count.FAILURE, perMinute(1));
        Policy all = policy("all", FailureMode.LOCAL, perMinute(2));
        FailureModes modes = instance(1, 10);
        Binding both = binding(1, failures, all);
        List<Charge> charges = List.of(charge(failures, 1), charge(all, 1));

        Decision first = modes.decide(both, charges, OPEN_BREAKER);
        assertThat(modes.settle(both, first, true)).containsExactly(charge(failures, 1));
        assertThat(modes.settle(both, first, true)).as("once").isEmpty();

        Decision second = modes.decide(both, charges, OPEN_BREAKER);
        assertThat(second.allowed()).isTrue();
        assertThat(second).as("equal decisions are distinct").isEqualTo(first).isNotSameAs(first);
        assertThat(modes.settle(both, second, false)).isEmpty();
        assertThat(allowed(modes, failures, 1, 5)).isZero();
        assertThat(allowed(modes, all, 1, 5)).isZero();
    }

    @Test
    void doesNotRefundACallThatWasNotChargedInProcess() {
        Policy failures = policy("failures", FailureMode.OPEN, Policy.Count.FAILURE, perMinute(1));
        FailureModes modes = instance(1, 10);
        Decision decision = decide(modes, failures, 1);
        assertThat(modes.settle(binding(1, failures), decision, true)).isEmpty();
    }
}
