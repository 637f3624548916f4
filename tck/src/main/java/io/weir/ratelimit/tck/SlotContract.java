// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ChargeReceipt;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Concurrency limits: a call takes a slot, and holds it until it is released or has expired. */
interface SlotContract extends ContractFixture {
    Duration TIMEOUT = Duration.ofSeconds(60);
    long TIMEOUT_MICROS = 60_000_000;

    private static Limit calls(int number) {
        return Limit.concurrency(number, TIMEOUT);
    }

    /** Returns a key of a backend that has concurrency limits. */
    private TestKey slotKey() {
        assumeTrue(backend().supports(Limit.concurrency(1, TIMEOUT)), "the backend has no concurrency limits");
        return key();
    }

    private boolean release(Receipt receipt) {
        return backend().release(receipt).toCompletableFuture().join();
    }

    private List<Receipt> renew(Receipt... receipts) {
        return backend().renew(List.of(receipts)).toCompletableFuture().join();
    }

    @Test
    default void allowsAsManyCallsAsHaveASlot() {
        TestKey key = slotKey();
        key.spend(calls(2), 1);
        Decision.Allowed second = key.spend(calls(2), 1);
        assertThat(second.receipt().holdsSlots()).isTrue();
        assertThat(second.quotas()).extracting(Quota::remaining).containsExactly(0L);
        key.rejection(calls(2), 1);
        assertThat(key.remaining(calls(3))).isEqualTo(1);
    }

    @Test
    default void showsAQuotaWithoutAWindow() {
        Quota quota = slotKey().peek(calls(5));
        assertThat(quota.kind() == Quota.Kind.CONCURRENCY).isTrue();
        assertThat(quota.window()).isEqualTo(Duration.ZERO);
        assertThat(quota.permits()).isEqualTo(5);
        assertThat(quota.capacity()).isEqualTo(5);
        assertThat(quota.remaining()).isEqualTo(5);
        assertThat(QuotaMicros.resetAfter(quota)).isZero();
        assertThat(QuotaMicros.nextPermitAfter(quota)).isZero();
    }

    @Test
    default void recommendsARetryAfterASecondOrWhenTheFirstSlotExpires() {
        TestKey key = slotKey();
        key.spend(calls(1), 1);
        Quota rejected = key.rejection(calls(1), 1);
        assertThat(QuotaMicros.retryAfter(rejected)).isEqualTo(1_000_000);
        assertThat(QuotaMicros.nextPermitAfter(rejected)).isEqualTo(1_000_000);
        assertThat(QuotaMicros.resetAfter(rejected)).isEqualTo(TIMEOUT_MICROS);

        time().advanceMicros(TIMEOUT_MICROS - 300_000);
        assertThat(QuotaMicros.retryAfter(key.rejection(calls(1), 1))).isEqualTo(300_000);
    }

    @Test
    default void aReleasedSlotIsFree() {
        TestKey key = slotKey();
        Receipt receipt = key.spend(calls(1), 1).receipt();
        assertThat(release(receipt)).isTrue();
        assertThat(key.peek(calls(1))).isEqualTo(key().peek(calls(1)));
        key.spend(calls(1), 1);
    }

    @Test
    default void aSecondReleaseFreesNoSlotOfAnotherCall() {
        TestKey key = slotKey();
        Receipt first = key.spend(calls(1), 1).receipt();
        release(first);
        key.spend(calls(1), 1);
        release(first);
        backend().refund(first);
        key.rejection(calls(1), 1);
    }

    @Test
    default void aReleaseAfterTheTimeoutFreesNoSlotOfAnotherCall() {
        TestKey key = slotKey();
        Receipt late = key.spend(calls(1), 1).receipt();
        time().advanceMicros(TIMEOUT_MICROS);
        key.spend(calls(1), 1);
        assertThat(release(late)).as("the receipt had a slot").isFalse();
        key.rejection(calls(1), 1);
    }

    @Test
    default void anUnreleasedSlotExpires() {
        TestKey key = slotKey();
        key.spend(calls(2), 1);
        time().advanceMicros(1_000_000);
        key.spend(calls(2), 1);
        time().advanceMicros(TIMEOUT_MICROS - 1_000_001);
        key.rejection(calls(2), 1);
        time().advanceMicros(1);
        assertThat(key.remaining(calls(2))).isEqualTo(1);
        time().advanceMicros(1_000_000);
        assertThat(key.remaining(calls(2))).isEqualTo(2);
    }

    @Test
    default void aRenewedSlotDoesNotExpire() {
        TestKey key = slotKey();
        Receipt receipt = key.spend(calls(2), 1).receipt();
        key.spend(calls(2), 1);
        for (int third = 0; third < 9; third++) {
            time().advanceMicros(TIMEOUT_MICROS / 3);
            assertThat(renew(receipt)).isEmpty();
        }
        assertThat(key.remaining(calls(2))).as("only one call renews its slot").isEqualTo(1);
        release(receipt);
        assertThat(key.remaining(calls(2))).isEqualTo(2);
    }

    @Test
    default void aSlotRenewedAfterAStepBackEndsAfterItsTimeout() {
        TestKey key = slotKey();
        Receipt receipt = key.spend(calls(1), 1).receipt();
        time().advanceMicros(-3_600_000_000L);
        assertThat(renew(receipt)).isEmpty();
        time().advanceMicros(TIMEOUT_MICROS - 1);
        key.rejection(calls(1), 1);
        time().advanceMicros(1);
        key.spend(calls(1), 1);
    }

    @Test
    default void aRenewalDoesNotTakeAnExpiredSlotAgain() {
        TestKey key = slotKey();
        Receipt late = key.spend(calls(1), 1).receipt();
        time().advanceMicros(TIMEOUT_MICROS);
        assertThat(renew(late)).containsExactly(late);
        Receipt next = key.spend(calls(1), 1).receipt();
        assertThat(renew(late, next)).containsExactly(late);
        release(late);
        key.rejection(calls(1), 1);
    }

    @Test
    default void renewsTheSlotsOfManyKeys() {
        List<Receipt> receipts = new ArrayList<>();
        List<TestKey> keys = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            TestKey key = slotKey();
            keys.add(key);
            receipts.add(key.spend(calls(1), 1).receipt());
        }
        time().advanceMicros(TIMEOUT_MICROS - 1);
        assertThat(renew(receipts.toArray(Receipt[]::new))).isEmpty();
        time().advanceMicros(TIMEOUT_MICROS - 1);
        keys.forEach(key -> assertThat(key.remaining(calls(1))).isZero());
    }

    @Test
    default void aCallTakesOneSlotWhateverItsCostIs() {
        TestKey key = slotKey();
        key.spend(calls(2), 1_000_000);
        assertThat(key.peek(calls(2), 1_000_000).remaining()).isEqualTo(1);
        key.spend(calls(2), 7);
        key.rejection(calls(2), 1);
    }

    @Test
    default void refundsAndSettlementsWithoutTheReceiptLeaveSlots() {
        TestKey key = slotKey();
        Receipt receipt = key.spend(calls(1), 4).receipt();
        backend().settle(receipt, charge -> true, 9);
        key.refund(calls(1), 100);
        key.rejection(calls(1), 1);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 9})
    default void aSettledCallReleasesItsSlot(long actual) {
        TestKey key = slotKey();
        Receipt receipt = key.spend(calls(1), 4).receipt();
        backend().settle(receipt, charge -> true, actual);
        key.rejection(calls(1), 1);
        release(receipt);
        key.spend(calls(1), 1);
    }

    @Test
    default void aRefundReleasesTheSlot() {
        TestKey key = slotKey();
        Receipt receipt = key.spend(calls(1), 1).receipt();
        backend().refund(receipt);
        Receipt next = key.spend(calls(1), 1).receipt();
        backend().refundAsync(next).toCompletableFuture().join();
        Receipt last = key.spend(calls(1), 1).receipt();
        backend().refund(((ChargeReceipt) last).split(charge -> true));
        key.spend(calls(1), 1);
        release(receipt);
        release(next);
        release(last);
        key.rejection(calls(1), 1);
    }

    @Test
    default void aResetFreesAllSlots() {
        TestKey key = slotKey();
        Receipt before = key.spend(calls(2), 1).receipt();
        key.spend(calls(2), 1);
        key.reset(calls(2));
        assertThat(key.remaining(calls(2))).isEqualTo(2);
        assertThat(renew(before)).containsExactly(before);
        key.spend(calls(1), 1);
        release(before);
        key.rejection(calls(1), 1);
    }

    @Test
    default void aLoweredLimitWaitsForReleases() {
        TestKey key = slotKey();
        Receipt first = key.spend(calls(3), 1).receipt();
        Receipt second = key.spend(calls(3), 1).receipt();
        key.spend(calls(3), 1);
        assertThat(key.rejection(calls(1), 1).remaining()).isZero();
        release(first);
        key.rejection(calls(2), 1);
        release(second);
        key.spend(calls(2), 1);
        key.rejection(calls(0), 1);
    }

    @Test
    default void aChangedTimeoutKeepsTheSlots() {
        TestKey key = slotKey();
        Receipt receipt = key.spend(calls(1), 1).receipt();
        Limit longer = Limit.concurrency(1, TIMEOUT.multipliedBy(2));
        key.rejection(longer, 1);
        release(receipt);
        key.spend(longer, 1);
        time().advanceMicros(TIMEOUT_MICROS);
        key.rejection(calls(1), 1);
        time().advanceMicros(TIMEOUT_MICROS);
        key.spend(calls(1), 1);
    }

    @Test
    default void aRejectionByAnotherLimitTakesNoSlot() {
        Limit window = Limit.of(Algorithm.FIXED_WINDOW, 2, Duration.ofMinutes(1));
        TestKey key = slotKey();
        Charge charge = key.charge(1, window, calls(5));
        backend().acquire(List.of(charge));
        backend().acquire(List.of(charge));
        Decision rejected = backend().acquire(List.of(charge));
        assertThat(rejected.allowed()).isFalse();
        assertThat(rejected.quotas()).extracting(Quota::rejected).containsExactly(true, false);
        assertThat(rejected.quotas()).extracting(Quota::remaining).containsExactly(0L, 3L);
        assertThat(rejected.quotas()).extracting(Quota::name).containsExactly("api-1m", "api-concurrent");
        assertThat(rejected.receipt().holdsSlots()).isFalse();
    }

    @Test
    default void aRejectionByASlotSpendsNoPermits() {
        Limit window = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1));
        TestKey key = slotKey();
        Charge charge = key.charge(3, window, calls(1));
        Decision allowed = backend().acquire(List.of(charge));
        assertThat(backend().acquire(List.of(charge)).quotas())
                .extracting(Quota::rejected)
                .containsExactly(false, true);
        assertThat(backend().peek(charge)).extracting(Quota::remaining).containsExactly(7L, 0L);

        release(allowed.receipt());
        assertThat(backend().peek(charge))
                .as("a release is no refund")
                .extracting(Quota::remaining)
                .containsExactly(7L, 1L);
        Decision second = backend().acquire(List.of(charge));
        backend().settle(second.receipt(), each -> true, 1);
        assertThat(backend().peek(charge)).extracting(Quota::remaining).containsExactly(6L, 0L);
        backend().refund(second.receipt());
        assertThat(backend().peek(charge)).extracting(Quota::remaining).containsExactly(7L, 1L);
    }

    @Test
    default void severalPoliciesAreAllOrNothing() {
        TestKey key = slotKey();
        TestKey other = key();
        Charge one = key.charge(1, calls(1));
        Charge two = new Charge(new PolicyLimits("slow", List.of(calls(2))), other.storedKey(), 1);
        Decision first = backend().acquire(List.of(one, two));
        Decision second = backend().acquire(List.of(one, two));
        assertThat(second.quotas()).extracting(Quota::rejected).containsExactly(true, false);
        assertThat(backend().peek(two)).extracting(Quota::remaining).containsExactly(1L);
        release(first.receipt());
        assertThat(backend().peek(List.of(one, two)))
                .extracting(Quota::remaining)
                .containsExactly(1L, 2L);
    }

    @Test
    default void aShadowChargeTakesASlotIfThereIsOne() {
        TestKey key = slotKey();
        Charge shadow = key.charge(1, calls(1)).asShadow();
        Decision first = backend().acquire(List.of(shadow));
        Decision second = backend().acquire(List.of(shadow));
        assertThat(second.allowed()).isTrue();
        assertThat(second.shadowQuotas()).extracting(Quota::rejected).containsExactly(true);
        release(second.receipt());
        assertThat(key.remaining(calls(1))).isZero();
        release(first.receipt());
        assertThat(key.remaining(calls(1))).isEqualTo(1);
    }

    @Test
    default void otherLimitsKeepTheirStateWithoutTheConcurrencyLimit() {
        Limit window = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofMinutes(1));
        TestKey key = slotKey();
        Decision first = backend().acquire(List.of(key.charge(1, window, calls(1))));
        key.spend(window, 2);
        assertThat(backend().peek(key.charge(1, window, calls(1))))
                .extracting(Quota::remaining)
                .containsExactly(7L, 0L);
        release(first.receipt());
        assertThat(backend().peek(key.charge(1, window, calls(1))))
                .extracting(Quota::remaining)
                .containsExactly(7L, 1L);
    }

    @Test
    default void aReleaseAndARenewalKeepABucketThatCountsUnderALoweredLimit() {
        Limit bucket = limitOf(Algorithm.TOKEN_BUCKET, 60, Duration.ofMinutes(1));
        Limit lowered = limitOf(Algorithm.TOKEN_BUCKET, 6, Duration.ofMinutes(1));
        TestKey key = slotKey();
        Receipt first =
                backend().acquire(List.of(key.charge(1, bucket, calls(3)))).receipt();
        Receipt second =
                backend().acquire(List.of(key.charge(5, bucket, calls(3)))).receipt();
        time().advanceMicros(7_000_000);
        release(first);
        renew(second);
        assertThat(backend().acquire(List.of(key.charge(1, lowered, calls(3)))).allowed())
                .isFalse();
        time().advanceMicros(3_000_000);
        assertThat(backend().acquire(List.of(key.charge(1, lowered, calls(3)))).allowed())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {100, Limit.MAX_CONCURRENCY})
    default void aKeyCanHaveManySlots(int number) {
        TestKey key = slotKey();
        List<Receipt> receipts = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            receipts.add(key.spend(calls(number), 1).receipt());
        }
        key.rejection(calls(number), 1);
        release(receipts.get(number / 2));
        key.spend(calls(number), 1);
        time().advanceMicros(TIMEOUT_MICROS);
        assertThat(key.remaining(calls(number))).isEqualTo(number);
    }

    @Test
    default void slotsAgreeWithTheReferenceModel() {
        assumeTrue(backend().supports(Limit.concurrency(1, TIMEOUT)), "the backend has no concurrency limits");
        RandomScenarios.run(
                "reference model of slots",
                60,
                time(),
                (title, seed) -> new SlotScenario(key(), time(), title, seed).run(120));
    }
}
