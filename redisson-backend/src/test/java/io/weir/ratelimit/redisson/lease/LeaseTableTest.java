// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.HotKeyDetector;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Leases whose timer and clock the test moves, on a Redis that allows everything. */
class LeaseTableTest {
    private static final long START = 1_763_638_200_000_000L;
    private static final Limit LIMIT = Limit.of(Algorithm.FIXED_WINDOW, 10_000, Duration.ofHours(1));
    private static final PolicyLimits POLICY = new PolicyLimits("api", List.of(LIMIT)).withLease(100);
    private static final Charge ONE = new Charge(POLICY, "k.hot", 1);

    private final RedisKeys keys = RedisKeys.of("test");
    private final RejectionCache rejections = new RejectionCache(keys);
    private final Queue<Runnable> checks = new ArrayDeque<>();
    private final List<Integer> counts = new ArrayList<>();
    private final List<Long> refunds = new ArrayList<>();
    private int blockChecks;
    private boolean blocked;
    private long nanos;

    private final LeaseTable leases = new LeaseTable(
            new PermitSource() {
                @Override
                public CompletionStage<AcquireResult> acquire(Charge charge) {
                    return CompletableFuture.completedStage(new AcquireResult(
                            List.of(spent(charge)), true, true, 0, new RedisTime(START, nanos, nanos)));
                }

                @Override
                public CompletableFuture<Void> refund(Refund refund) {
                    refunds.add(refund.charges().get(0).cost());
                    return CompletableFuture.completedFuture(null);
                }

                @Override
                public CompletionStage<Boolean> isBlocked(Charge charge) {
                    assertThat(charge).isEqualTo(ONE);
                    blockChecks++;
                    return CompletableFuture.completedStage(blocked);
                }
            },
            keys,
            rejections,
            () -> nanos,
            (after, task) -> {
                assertThat(after).isEqualTo(LeaseTable.CHECK_INTERVAL_NANOS);
                checks.add(task);
            },
            counts::add);

    private static ChargeStates spent(Charge charge) {
        return new ChargeStates(
                charge, List.of(LimitState.untouched(LIMIT, START).spend(LIMIT, charge.cost(), START)));
    }

    private static BackendReceipt receipt(Charge charge) {
        return new BackendReceipt(List.of(spent(charge)));
    }

    private boolean spends(Charge charge) {
        return leases.spend(charge, 0, nanos) != null;
    }

    /** Makes the key hot. The lease then holds a hundred permits. */
    private void begin() {
        for (int call = 1; call < HotKeyDetector.HOT; call++) {
            leases.recordAllowed(ONE, 9_000, nanos);
            assertThat(spends(ONE)).as("after %d calls", call).isFalse();
        }
        leases.recordAllowed(ONE, 9_000, nanos);
    }

    private void check() {
        nanos += LeaseTable.CHECK_INTERVAL_NANOS;
        checks.remove().run();
    }

    @Test
    void aHotKeyIsSpentFromMemoryAndCounted() {
        begin();
        assertThat(spends(ONE)).isTrue();
        assertThat(spends(new Charge(POLICY, "k.other", 1))).isFalse();
        assertThat(leases.count()).isZero();
        check();
        assertThat(leases.count()).isEqualTo(1);
        assertThat(counts).containsExactly(1);
        assertThat(checks).as("the timer goes on").hasSize(1);
    }

    @Test
    void anIdleLeaseEndsAfterElevenChecksAndItsTimerWithIt() {
        begin();
        for (int check = 0; check <= LeaseTable.MAX_IDLE_CHECKS; check++) {
            assertThat(refunds).isEmpty();
            check();
        }
        assertThat(refunds).containsExactly(100L);
        assertThat(counts).containsExactly(1, 0);
        assertThat(checks).isEmpty();
        assertThat(spends(ONE)).isFalse();
    }

    @Test
    void oneOfTenChecksAsksForABlockAndEndsTheLeaseOfABlockedKey() {
        begin();
        for (int check = 0; check < 11; check++) {
            check();
            assertThat(spends(ONE)).isTrue();
        }
        assertThat(blockChecks).isEqualTo(2);
        blocked = true;
        for (int check = 0; check < 9; check++) {
            check();
            assertThat(spends(ONE)).isTrue();
        }
        check();
        assertThat(blockChecks).isEqualTo(3);
        assertThat(spends(ONE)).isFalse();
        assertThat(refunds).containsExactly(80L);
    }

    @Test
    void limitsThatHaveChangedEndTheLease() {
        begin();
        Charge changed = new Charge(POLICY.withLease(50), "k.hot", 1);
        assertThat(spends(changed)).isFalse();
        assertThat(refunds).containsExactly(100L);
        assertThat(spends(ONE)).isFalse();
    }

    @Test
    void aChargeWithoutALeaseIsNotSpentFromMemory() {
        begin();
        assertThat(spends(new Charge(POLICY.withLease(0), "k.hot", 1))).isFalse();
        assertThat(refunds).isEmpty();
        assertThat(spends(ONE)).isTrue();
    }

    @Test
    void aRefundGoesToTheLeaseWhileItHasPlaceAndForgetsTheRejection() {
        begin();
        assertThat(leases.refund(receipt(ONE))).as("the lease is full").isFalse();
        assertThat(spends(ONE)).isTrue();
        String key = keys.of(ONE);
        rejections.put(
                List.of(spent(new Charge(POLICY, "k.hot", 10_000))),
                List.of(key),
                new RedisTime(START, nanos, nanos),
                rejections.version(List.of(key)));
        assertThat(rejections.find(List.of(ONE), List.of(key), nanos)).isPresent();
        assertThat(leases.refund(receipt(ONE))).isTrue();
        assertThat(rejections.find(List.of(ONE), List.of(key), nanos)).isEmpty();
        assertThat(refunds).isEmpty();
        assertThat(leases.spend(new Charge(POLICY, "k.hot", 100), 0, nanos)).isNotNull();
    }

    @Test
    void aChargeOfAnotherWindowReturnsToRedis() {
        begin();
        assertThat(spends(ONE)).isTrue();
        long later = START + LIMIT.windowMicros();
        LimitState state = LimitState.untouched(LIMIT, later).spend(LIMIT, 1, later);
        assertThat(leases.refund(new BackendReceipt(List.of(new ChargeStates(ONE, List.of(state))))))
                .isTrue();
        assertThat(refunds).containsExactly(1L);
    }

    @Test
    void aRefundThatNoLeaseTakesIsLeftToTheCaller() {
        assertThat(leases.refund(receipt(ONE))).isFalse();
        begin();
        assertThat(spends(ONE)).isTrue();
        assertThat(leases.refund(receipt(new Charge(POLICY, "k.other", 1)))).isFalse();
        assertThat(leases.refund(receipt(new Charge(POLICY.withLease(0), "k.hot", 1))))
                .isFalse();
        assertThat(leases.refund(receipt(new Charge(POLICY.withLease(50), "k.hot", 1))))
                .isFalse();
        assertThat(leases.refund(receipt(new Charge(POLICY, "k.hot", 1, 0, true))))
                .as("in shadow mode")
                .isFalse();
        assertThat(refunds).isEmpty();
    }

    @Test
    void theEndRefundsAllLeasesAndBeginsNone() {
        begin();
        check();
        assertThat(leases.close()).isCompleted();
        assertThat(refunds).containsExactly(100L);
        assertThat(counts).containsExactly(1, 0);
        begin();
        assertThat(spends(ONE)).isFalse();
        check();
        assertThat(counts).containsExactly(1, 0);
        assertThat(checks).isEmpty();
    }

    @Test
    void anOverloadedKeyTakesALargerPart() {
        Decision.Rejected rejected = new Decision.Rejected(
                ChargeStates.results(List.of(spent(new Charge(POLICY, "k.hot", 10_000))), false, START));
        for (int call = 0; call < HotKeyDetector.HOT; call++) {
            rejections.recordRejection(ONE, rejected, nanos);
            leases.recordAllowed(ONE, 100, nanos);
        }
        assertThat(leases.spend(new Charge(POLICY, "k.hot", 50), 0, nanos))
                .as("half of 100")
                .isNotNull();
    }
}
