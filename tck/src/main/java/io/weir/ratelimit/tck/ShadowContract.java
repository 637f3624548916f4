// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ChargeReceipt;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** A policy in shadow mode is decided once the others allow the call, and never rejects a call. */
interface ShadowContract extends ContractFixture {

    private static Charge charge(String policy, TestKey key, long cost, Limit... limits) {
        return new Charge(new PolicyLimits(policy, List.of(limits)), key.storedKey(), cost);
    }

    private Decision.Allowed allowed(Charge... charges) {
        Decision decision = backend().acquire(List.of(charges));
        assertThat(decision).isInstanceOf(Decision.Allowed.class);
        return (Decision.Allowed) decision;
    }

    private Decision.Rejected rejected(Charge... charges) {
        Decision decision = backend().acquire(List.of(charges));
        assertThat(decision).isInstanceOf(Decision.Rejected.class);
        return (Decision.Rejected) decision;
    }

    private long remaining(Charge charge) {
        return backend().peek(charge).get(0).remaining();
    }

    @EachAlgorithm
    default void shadowChargeSpendsPermitsAndNeverRejects(Algorithm algorithm) {
        TestKey key = key();
        Charge enforced = charge("api", key, 1, limitOf(algorithm, 10, Duration.ofHours(1)));
        Charge shadow = charge("trial", key, 3, limitOf(algorithm, 7, Duration.ofHours(1)));
        for (long left : new long[] {4, 1}) {
            Decision.Allowed decision = allowed(enforced, shadow.asShadow());
            assertThat(decision.quotas()).extracting(Quota::policy).containsExactly("api");
            Quota quota = decision.shadowQuotas().get(0);
            assertThat(decision.shadowQuotas()).hasSize(1);
            assertThat(quota.policy()).isEqualTo("trial");
            assertThat(quota.rejected()).isFalse();
            assertThat(quota.remaining()).isEqualTo(left);
            assertThat(QuotaMicros.retryAfter(quota)).isZero();
        }
        List<Quota> full = backend().peek(shadow);
        Decision.Allowed decision = allowed(enforced, shadow.asShadow());
        assertThat(decision.shadowQuotas()).isEqualTo(full);
        assertThat(decision.shadowQuotas().get(0).rejected()).isTrue();
        assertThat(decision.waitMicros()).isZero();
        assertThat(backend().peek(shadow)).isEqualTo(full);
        assertThat(remaining(enforced)).isEqualTo(7);
    }

    @EachAlgorithm
    default void rejectedCallEvaluatesNoShadowCharge(Algorithm algorithm) {
        TestKey key = key();
        Charge enforced = charge("api", key, 2, limitOf(algorithm, 3, Duration.ofHours(1)));
        Charge roomy = charge("roomy", key, 1, limitOf(algorithm, 10, Duration.ofHours(1)));
        Charge narrow = charge("narrow", key, 1, limitOf(algorithm, 1, Duration.ofHours(1)));
        allowed(roomy.asShadow(), enforced, narrow.asShadow());
        Decision.Rejected decision = rejected(roomy.asShadow(), enforced, narrow.asShadow());
        assertThat(decision.violatedPolicies()).containsExactly("api");
        assertThat(decision.decisiveQuota().policy()).isEqualTo("api");
        assertThat(decision.quotas()).extracting(Quota::policy).containsExactly("api");
        assertThat(decision.shadowQuotas()).isEmpty();
        assertThat(List.of(remaining(roomy), remaining(narrow))).containsExactly(9L, 0L);
    }

    @EachAlgorithm
    default void shadowChargeIsAllOrNothing(Algorithm algorithm) {
        Limit second = limitOf(algorithm, 2, Duration.ofSeconds(1));
        Limit hour = limitOf(algorithm, 10, Duration.ofHours(1));
        TestKey key = key();
        Charge enforced = charge("api", key, 1, hour);
        Charge shadow = charge("trial", key, 1, hour, second);
        for (int call = 0; call < 5; call++) {
            allowed(enforced, shadow.asShadow());
        }
        Decision.Allowed decision = allowed(enforced, shadow.asShadow());
        assertThat(decision.shadowQuotas()).extracting(Quota::name).containsExactly("trial-1h", "trial-1s");
        assertThat(decision.shadowQuotas()).extracting(Quota::rejected).containsExactly(false, true);
        assertThat(decision.shadowQuotas()).extracting(Quota::remaining).containsExactly(8L, 0L);
        assertThat(remaining(enforced)).isEqualTo(4);
    }

    @EachAlgorithm
    default void shadowChargesAreIndependentOfEachOther(Algorithm algorithm) {
        TestKey key = key();
        Charge one = charge("one", key, 1, limitOf(algorithm, 1, Duration.ofHours(1)));
        Charge ten = charge("ten", key, 1, limitOf(algorithm, 10, Duration.ofHours(1)));
        Charge none = charge("none", key, 1, limitOf(algorithm, 0, Duration.ofHours(1)));
        for (int call = 0; call < 4; call++) {
            Decision.Allowed decision = allowed(none.asShadow(), one.asShadow(), ten.asShadow());
            assertThat(decision.quotas()).isEmpty();
            assertThat(decision.shadowQuotas()).extracting(Quota::rejected).containsExactly(true, call > 0, false);
        }
        assertThat(remaining(ten)).isEqualTo(6);
        for (int call = 0; call < 12; call++) {
            allowed(ten.asShadow());
        }
        assertThat(remaining(ten)).isZero();
    }

    @EachAlgorithm
    default void policyKeepsItsStateWhenShadowModeEnds(Algorithm algorithm) {
        Charge charge = charge("trial", key(), 3, limitOf(algorithm, 7, Duration.ofHours(1)));
        allowed(charge.asShadow());
        allowed(charge);
        assertThat(rejected(charge).quotas()).extracting(Quota::remaining).containsExactly(1L);
    }

    @EachAlgorithm
    default void shadowChargesCanHaveOtherKeys(Algorithm algorithm) {
        Charge enforced = charge("api", key(), 1, limitOf(algorithm, 3, Duration.ofHours(1)));
        Charge first = charge("first", key(), 1, limitOf(algorithm, 2, Duration.ofHours(1)));
        Charge second = charge("second", key(), 1, limitOf(algorithm, 9, Duration.ofHours(1)));
        for (int call = 0; call < 3; call++) {
            Decision.Allowed decision = allowed(first.asShadow(), enforced, second.asShadow());
            assertThat(decision.shadowQuotas()).extracting(Quota::policy).containsExactly("first", "second");
            assertThat(decision.shadowQuotas()).extracting(Quota::rejected).containsExactly(call == 2, false);
        }
        rejected(first.asShadow(), enforced, second.asShadow());
        assertThat(remaining(second)).isEqualTo(6);
        assertThat(remaining(first)).isZero();
        allowed(first.asShadow(), second.asShadow());
        assertThat(remaining(second)).isEqualTo(5);
    }

    @EachBucket
    default void shadowChargeNeverWaits(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofSeconds(1)).withMaxWait(Duration.ofSeconds(5));
        Charge enforced = charge("api", key(), 1, limitOf(algorithm, 100, Duration.ofSeconds(1)));
        TestKey key = key();
        Charge shadow = charge("trial", key, 1, limit).asShadow();
        while (remaining(shadow) > 0) {
            allowed(shadow);
        }
        Decision.Allowed decision = allowed(enforced, shadow);
        assertThat(decision.waitMicros()).isZero();
        assertThat(decision.shadowQuotas()).extracting(Quota::rejected).containsExactly(true);
        assertThat(decision.shadowQuotas()).extracting(QuotaMicros::retryAfter).containsExactly(100_000L);
        assertThat(allowed(enforced, new Charge(shadow.policy(), key.storedKey(), 1, 5_000_000))
                        .waitMicros())
                .isEqualTo(100_000);
    }

    @EachAlgorithm
    default void receiptIncludesSpentShadowChargesOnly(Algorithm algorithm) throws Exception {
        TestKey key = key();
        Charge enforced = charge("api", key, 2, limitOf(algorithm, 10, Duration.ofHours(1)));
        Charge roomy = charge("roomy", key, 3, limitOf(algorithm, 10, Duration.ofHours(1)));
        Charge full = charge("full", key, 1, limitOf(algorithm, 1, Duration.ofHours(1)));
        allowed(full);
        Decision.Allowed decision = allowed(full.asShadow(), enforced, roomy.asShadow());
        ChargeReceipt receipt = (ChargeReceipt) decision.receipt();
        assertThat(receipt.charges()).containsExactlyInAnyOrder(enforced, roomy.asShadow());
        backend()
                .refundAsync(receipt.split(Charge::shadow))
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS);
        assertThat(List.of(remaining(enforced), remaining(roomy), remaining(full)))
                .containsExactly(8L, 10L, 0L);
        backend().refund(receipt);
        assertThat(List.of(remaining(enforced), remaining(roomy), remaining(full)))
                .containsExactly(10L, 10L, 0L);
    }

    @EachAlgorithm
    default void acquireAsyncDecidesShadowChargesLikeAcquire(Algorithm algorithm) throws Exception {
        TestKey key = key();
        Charge enforced = charge("api", key, 1, limitOf(algorithm, 2, Duration.ofHours(1)));
        Charge shadow = charge("trial", key(), 1, limitOf(algorithm, 1, Duration.ofHours(1)));
        for (int call = 0; call < 3; call++) {
            Decision decision = backend()
                    .acquireAsync(List.of(enforced, shadow.asShadow()))
                    .toCompletableFuture()
                    .get(10, TimeUnit.SECONDS);
            assertThat(decision.allowed()).isEqualTo(call < 2);
            assertThat(decision.quotas()).extracting(Quota::policy).containsExactly("api");
            List<Boolean> shadowRejected =
                    decision.shadowQuotas().stream().map(Quota::rejected).toList();
            assertThat(shadowRejected).isEqualTo(call < 2 ? List.of(call == 1) : List.of());
        }
    }

    @EachAlgorithm
    default void manyThreadsSpendExactlyTheLimitOfAShadowCharge(Algorithm algorithm) throws Exception {
        TestKey key = key();
        Charge enforced = charge("api", key, 1, limitOf(algorithm, 300, Duration.ofHours(1)));
        Charge narrow = charge("narrow", key, 1, limitOf(algorithm, 100, Duration.ofHours(1)));
        Charge roomy = charge("roomy", key, 1, limitOf(algorithm, 1_000, Duration.ofHours(1)));
        LongAdder allowedCalls = new LongAdder();
        LongAdder shadowSpent = new LongAdder();
        int threads = 16;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            CountDownLatch ready = new CountDownLatch(threads);
            List<Future<?>> all = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                all.add(pool.submit(() -> {
                    ready.countDown();
                    ready.await();
                    for (int call = 0; call < 25; call++) {
                        Decision decision = backend().acquire(List.of(narrow.asShadow(), enforced, roomy.asShadow()));
                        if (decision instanceof Decision.Allowed allowed) {
                            allowedCalls.increment();
                            shadowSpent.add(allowed.shadowQuotas().get(0).rejected() ? 0 : 1);
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            pool.shutdownNow();
        }
        assertThat(allowedCalls.sum()).isEqualTo(300);
        assertThat(shadowSpent.sum()).isEqualTo(100);
        assertThat(remaining(narrow)).isZero();
        assertThat(remaining(roomy)).isEqualTo(700);
    }

    @Test
    default void agreesWithTheReferenceModelForShadowCharges() {
        RandomScenarios.run(
                "reference model of policies in shadow mode",
                40,
                time(),
                (title, seed) -> new ShadowScenario(key(), time(), new Random(seed), title).run(60));
    }
}
