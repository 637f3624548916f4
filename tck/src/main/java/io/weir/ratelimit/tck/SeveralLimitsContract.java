// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Several limits of a policy and several charges of a call are spent all or nothing. */
interface SeveralLimitsContract extends ContractFixture {

    private static Charge charge(String policy, TestKey key, long cost, Limit... limits) {
        return new Charge(new PolicyLimits(policy, List.of(limits)), key.storedKey(), cost);
    }

    @EachAlgorithm
    default void allLimitsOfAPolicyApplyTogether(Algorithm algorithm) {
        Limit second = limitOf(algorithm, 2, Duration.ofSeconds(1));
        Limit hour = limitOf(algorithm, 5, Duration.ofHours(1));
        List<Charge> call = List.of(key().charge(1, second, hour));
        for (int expected : new int[] {2, 2, 1, 0}) {
            long allowed = Stream.generate(() -> backend().acquire(call))
                    .limit(4)
                    .filter(Decision::allowed)
                    .count();
            assertThat(allowed).isEqualTo(expected);
            time().advanceMicros(2_000_000);
        }
    }

    @EachAlgorithm
    default void peekOfSeveralChargesReturnsTheQuotasOfEach(Algorithm algorithm) {
        Limit second = limitOf(algorithm, 10, Duration.ofSeconds(1));
        Limit hour = limitOf(algorithm, 20, Duration.ofHours(1));
        TestKey key = key();
        TestKey other = key();
        assertThat(backend().acquire(List.of(charge("z", key, 20, hour))).allowed())
                .isTrue();
        assertThat(backend()
                        .acquire(List.of(charge("a", other, 3, hour, second), charge("m", key, 2, second)))
                        .allowed())
                .isTrue();
        List<Charge> peeked = List.of(
                charge("z", key, 1, hour),
                charge("a", other, 18, hour, second),
                charge("m", key, 1, second),
                charge("b", key(), 1, hour));
        for (int again = 0; again < 2; again++) {
            assertThat(backend().peek(peeked))
                    .extracting(Quota::policy, Quota::name, Quota::remaining, Quota::rejected)
                    .containsExactly(
                            tuple("z", "z", 0L, true),
                            tuple("a", "a-1h", 17L, true),
                            tuple("a", "a-1s", 7L, true),
                            tuple("m", "m", 8L, false),
                            tuple("b", "b", 20L, false));
        }
        assertThat(backend().peek(peeked))
                .isEqualTo(peeked.stream()
                        .flatMap(charge -> backend().peek(charge).stream())
                        .toList());
    }

    @EachAlgorithm
    default void quotasHaveTheOrderOfChargesAndLimits(Algorithm algorithm) {
        Limit second = limitOf(algorithm, 10, Duration.ofSeconds(1));
        Limit hour = limitOf(algorithm, 1000, Duration.ofHours(1));
        Limit day = limitOf(algorithm, 5000, Duration.ofDays(1));
        TestKey key = key();
        Decision decision = backend()
                .acquire(List.of(
                        charge("z", key, 3, hour, second),
                        charge("a", key(), 7, day),
                        charge("m", key, 1, second, day, hour)));
        assertThat(decision).isInstanceOf(Decision.Allowed.class);
        assertThat(decision.quotas())
                .extracting(Quota::policy, Quota::name, Quota::permits, Quota::window, Quota::remaining)
                .containsExactly(
                        tuple("z", "z-1h", 1000L, Duration.ofHours(1), 997L),
                        tuple("z", "z-1s", 10L, Duration.ofSeconds(1), 7L),
                        tuple("a", "a", 5000L, Duration.ofDays(1), 4993L),
                        tuple("m", "m-1s", 10L, Duration.ofSeconds(1), 9L),
                        tuple("m", "m-1d", 5000L, Duration.ofDays(1), 4999L),
                        tuple("m", "m-1h", 1000L, Duration.ofHours(1), 999L));
    }

    @EachAlgorithm
    default void rejectionSpendsNothingUnderAnyLimit(Algorithm algorithm) {
        Limit wide = limitOf(algorithm, 100, Duration.ofHours(1));
        Limit narrow = limitOf(algorithm, 2, Duration.ofSeconds(1));
        Limit day = limitOf(algorithm, 1000, Duration.ofDays(1));
        TestKey key = key();
        Charge one = key.charge(1, wide, narrow, day);
        backend().acquire(List.of(one));
        backend().acquire(List.of(one));
        List<Quota> before = backend().peek(one);
        Decision rejection = backend().acquire(List.of(one));
        assertThat(rejection.quotas()).extracting(Quota::rejected).containsExactly(false, true, false);
        assertThat(rejection.quotas()).extracting(Quota::remaining).containsExactly(98L, 0L, 998L);
        assertThat(backend().peek(one)).isEqualTo(before).isEqualTo(rejection.quotas());
    }

    @EachAlgorithm
    default void rejectedChargeLeavesTheOthersUnspent(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey organization = key();
        TestKey user = key();
        TestKey address = key();
        user.spend(limit, 9);
        for (int position = 0; position < 3; position++) {
            List<Charge> charges = new ArrayList<>(List.of(organization.charge(5, limit), address.charge(1, limit)));
            charges.add(position, user.charge(2, limit));
            Decision decision = backend().acquire(charges);
            assertThat(decision).isInstanceOf(Decision.Rejected.class);
            for (int i = 0; i < 3; i++) {
                assertThat(decision.quotas().get(i).rejected()).isEqualTo(i == position);
                assertThat(QuotaMicros.retryAfter(decision.quotas().get(i)) > 0).isEqualTo(i == position);
            }
        }
        assertThat(organization.remaining(limit)).isEqualTo(10);
        assertThat(QuotaMicros.resetAfter(organization.peek(limit))).isZero();
        assertThat(user.remaining(limit)).isEqualTo(1);
        assertThat(address.remaining(limit)).isEqualTo(10);
        assertThat(backend()
                        .acquire(List.of(organization.charge(5, limit), user.charge(1, limit)))
                        .allowed())
                .isTrue();
        assertThat(organization.remaining(limit)).isEqualTo(5);
        assertThat(user.remaining(limit)).isZero();
    }

    @EachAlgorithm
    default void everyRejectingLimitHasItsRetryAfter(Algorithm algorithm) {
        Limit second = limitOf(algorithm, 4, Duration.ofSeconds(1));
        Limit minute = limitOf(algorithm, 4, Duration.ofMinutes(1));
        Limit hour = limitOf(algorithm, 5, Duration.ofHours(1));
        TestKey key = key();
        backend().acquire(List.of(key.charge(4, second, minute, hour)));
        Decision decision = backend().acquire(List.of(key.charge(1, second, minute, hour)));
        assertThat(decision).isInstanceOf(Decision.Rejected.class);
        assertThat(decision.quotas()).extracting(Quota::rejected).containsExactly(true, true, false);
        Decision.Rejected rejected = (Decision.Rejected) decision;
        assertThat(rejected.violatedPolicies()).containsExactly("api");
        assertThat(rejected.decisiveQuota().name()).isEqualTo("api-1m");
        time().advanceMicros(QuotaMicros.retryAfter(rejected.quotas().get(0)));
        assertThat(backend()
                        .acquire(List.of(key.charge(1, second, minute, hour)))
                        .quotas())
                .extracting(Quota::rejected)
                .containsExactly(false, true, false);
        time().advanceMicros(QuotaMicros.retryAfter(rejected.decisiveQuota())
                - QuotaMicros.retryAfter(rejected.quotas().get(0)));
        assertThat(backend()
                        .acquire(List.of(key.charge(1, second, minute, hour)))
                        .allowed())
                .isTrue();
    }

    @EachAlgorithm
    default void refundIncludesAllChargesOfADecision(Algorithm algorithm) {
        Limit second = limitOf(algorithm, 10, Duration.ofSeconds(1));
        Limit hour = limitOf(algorithm, 100, Duration.ofHours(1));
        TestKey one = key();
        TestKey other = key();
        backend().acquire(List.of(one.charge(2, second, hour)));
        Decision.Allowed allowed =
                (Decision.Allowed) backend().acquire(List.of(one.charge(3, second, hour), other.charge(5, hour)));
        backend().refund(allowed.receipt());
        assertThat(backend().peek(one.charge(1, second, hour)))
                .extracting(Quota::remaining)
                .containsExactly(8L, 98L);
        assertThat(other.peek(hour)).isEqualTo(key().peek(hour));
    }

    @EachAlgorithm
    default void resetDeletesTheStateOfAllLimits(Algorithm algorithm) {
        Limit second = limitOf(algorithm, 10, Duration.ofSeconds(1));
        Limit hour = limitOf(algorithm, 100, Duration.ofHours(1));
        TestKey key = key();
        backend().acquire(List.of(key.charge(10, second, hour)));
        backend().reset(TestKey.policy(second, hour), key.storedKey());
        assertThat(backend().peek(key.charge(1, second, hour)))
                .isEqualTo(backend().peek(key().charge(1, second, hour)));
    }

    @EachAlgorithm
    default void callCanHaveManyCharges(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 2, Duration.ofMinutes(1));
        List<TestKey> keys = Stream.generate(this::key).limit(40).toList();
        List<Charge> all = keys.stream().map(key -> key.charge(1, limit)).toList();
        assertThat(backend().acquire(all).quotas()).hasSize(40).allMatch(quota -> quota.remaining() == 1);
        keys.get(39).spend(limit, 1);
        Decision decision = backend().acquire(all);
        assertThat(decision.allowed()).isFalse();
        assertThat(decision.quotas().subList(0, 39)).allMatch(quota -> !quota.rejected() && quota.remaining() == 1);
        assertThat(decision.quotas().get(39).rejected()).isTrue();
    }

    @Test
    default void orderOfChargesAffectsOnlyTheOrderOfQuotas() {
        Limit minute = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofMinutes(1));
        Limit hour = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofHours(1));
        Limit second = Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofSeconds(1), 20);
        List<Set<Quota>> seen = new ArrayList<>();
        for (int[] order : new int[][] {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
            List<Charge> some = List.of(
                    charge("a", key(), 4, minute), charge("b", key(), 3, hour, second), charge("c", key(), 7, second));
            List<Charge> ordered = Arrays.stream(order).mapToObj(some::get).toList();
            List<String> names =
                    ordered.stream().map(charge -> charge.policy().policy()).toList();
            Set<Quota> all = new LinkedHashSet<>();
            for (int call = 0; call < 4; call++) {
                Decision decision = backend().acquire(ordered);
                assertThat(decision.allowed()).isEqualTo(call < 2);
                assertThat(decision.quotas()).extracting(Quota::policy).containsSubsequence(names);
                List<Quota> after = some.stream()
                        .flatMap(charge -> backend().peek(charge).stream())
                        .toList();
                all.addAll(after);
                if (decision instanceof Decision.Rejected rejected) {
                    assertThat(decision.quotas()).containsExactlyInAnyOrderElementsOf(after);
                    assertThat(rejected.violatedPolicies())
                            .containsExactlyElementsOf(
                                    call == 2
                                            ? names.stream()
                                                    .filter(name -> !name.equals("b"))
                                                    .toList()
                                            : names);
                    assertThat(rejected.decisiveQuota().policy()).isEqualTo(call == 2 ? "a" : "b");
                }
                if (call == 2) {
                    backend().acquire(List.of(some.get(1)));
                }
            }
            seen.add(all);
        }
        assertThat(seen).allMatch(quotas -> quotas.equals(seen.get(0)));
    }
}
