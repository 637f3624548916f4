// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls that are ready to wait: a bucket charges them at once and tells how far away their slot is; windows refuse them. */
interface MaxWaitContract extends ContractFixture {
    Duration SECOND = Duration.ofSeconds(1);

    /** Ten slots a second, one every 100 ms, for calls that wait up to a time. */
    private static Limit tenASecond(Algorithm algorithm, long burst, long maxWaitMillis) {
        return Limit.of(algorithm, 10, SECOND, burst).withMaxWait(Duration.ofMillis(maxWaitMillis));
    }

    @EachBucket
    default void slotsAreExactlyOneApartAndEndAtTheMaxWait(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 1, 500);
        TestKey key = key();
        for (long slot = 0; slot <= 500_000; slot += 100_000) {
            assertThat(key.slot(limit, 1)).isEqualTo(slot);
        }
        Decision refusal = key.queue(limit, 1);
        assertThat(refusal).isInstanceOf(Decision.Rejected.class);
        assertThat(refusal.quotas().get(0).retryAfterMicros()).isEqualTo(100_000);
    }

    @ParameterizedTest(name = "{0}/{1}")
    @CsvSource({"7, PT1S", "3, PT10S", "1000003, PT1S", "1000000, PT24H"})
    default void slotsAreNeverRounded(long permits, Duration window) {
        Limit limit = Limit.of(Algorithm.LEAKY_BUCKET, permits, window).withMaxWait(Duration.ofHours(1));
        TestKey key = key();
        for (long call = 0; call < 100; call++) {
            long exact = -Math.floorDiv(-call * limit.windowUnits(), permits) * limit.unitMicros();
            assertThat(key.slot(limit, 1)).isEqualTo(exact);
        }
    }

    @EachBucket
    default void theBurstIsThereAtOnceAndTheRestQueues(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 3, 300);
        TestKey key = key();
        assertThat(key.slot(limit, 2)).isZero();
        assertThat(key.slot(limit, 2)).isEqualTo(100_000);
        assertThat(key.slot(limit, 1)).isEqualTo(200_000);
        assertThat(key.slot(limit, 1)).isEqualTo(300_000);
        assertThat(key.queue(limit, 1).allowed()).isFalse();
    }

    @EachBucket
    default void retryAfterIsExactlyEnoughForACallThatWaitsThen(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 2, 250);
        TestKey key = key();
        time().advanceMicros(17);
        for (int call = 0; call < 4; call++) {
            key.slot(limit, 1);
        }
        for (long cost : new long[] {1, 2}) {
            long wait = key.queue(limit, cost).quotas().get(0).retryAfterMicros();
            assertThat(wait).isEqualTo(cost == 1 ? 50_000 : 200_000);
            time().advanceMicros(wait - 1);
            assertThat(key.queue(limit, cost).quotas().get(0).retryAfterMicros())
                    .isEqualTo(1);
            time().advanceMicros(1);
            assertThat(key.slot(limit, cost)).isEqualTo(250_000);
        }
    }

    @EachBucket
    default void aCallIsGivenNoSlotBeyondItsOwnPatience(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 1, 500);
        TestKey key = key();
        key.slot(limit, 1);
        Decision.Rejected refused = (Decision.Rejected) backend().acquire(List.of(key.patient(99_999, 1, limit)));
        assertThat(refused.decisive().retryAfterMicros()).isEqualTo(1);
        assertThat(backend().acquire(List.of(key.patient(100_000, 1, limit))).allowed())
                .isTrue();
        assertThat(backend()
                        .acquire(List.of(key.patient(Long.MAX_VALUE, 1, limit)))
                        .allowed())
                .isTrue();
    }

    @EachBucket
    default void patienceBeyondTheMaxWaitDoesNotCount(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 1, 100);
        TestKey key = key();
        key.slot(limit, 1);
        key.slot(limit, 1);
        Decision refusal = backend().acquire(List.of(key.patient(Long.MAX_VALUE, 1, limit)));
        assertThat(refusal.quotas().get(0).retryAfterMicros()).isEqualTo(100_000);
        Limit unshaped = Limit.of(algorithm, 10, SECOND, 1);
        assertThat(backend()
                        .acquire(List.of(key.patient(Long.MAX_VALUE, 1, unshaped)))
                        .allowed())
                .isFalse();
    }

    @EachBucket
    default void aCallThatDoesNotWaitIsRefusedWhileOthersQueue(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 1, 500);
        TestKey key = key();
        for (int call = 0; call < 3; call++) {
            key.slot(limit, 1);
        }
        Quota told = key.refusal(limit, 1);
        assertThat(told.retryAfterMicros()).isEqualTo(300_000);
        assertThat(told.remaining()).isZero();
        assertThat(told.growsAfterMicros()).isEqualTo(300_000);
        assertThat(told.resetAfterMicros()).isEqualTo(300_000);
        time().advanceMicros(299_999);
        key.refusal(limit, 1);
        time().advanceMicros(1);
        key.spend(limit, 1);
    }

    @EachBucket
    default void whatIsOwedIsNeverMoreThanTheMaxWaitReturns(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 4, 1_050);
        TestKey key = key();
        for (int call = 0; call < 50; call++) {
            key.queue(limit, 1 + call % 4);
            assertThat(key.peek(limit).resetAfterMicros()).isLessThanOrEqualTo(400_000 + 1_050_000);
            time().advanceMicros(33_333);
        }
    }

    @EachBucket
    default void aRefusedCallTakesNoSlot(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 1, 200);
        TestKey key = key();
        for (int call = 0; call < 3; call++) {
            key.slot(limit, 1);
        }
        Quota before = key.peek(limit);
        for (int call = 0; call < 20; call++) {
            assertThat(key.queue(limit, 1).allowed()).isFalse();
        }
        assertThat(key.peek(limit)).isEqualTo(before);
    }

    @EachBucket
    default void aCostAboveTheBurstIsRefusedForEverHoweverLongACallWaits(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 3, 3_600_000);
        assertThat(key().queue(limit, 4).quotas().get(0).retryAfterMicros()).isEqualTo(Quota.NEVER);
        Limit blocking = Limit.of(algorithm, 0, SECOND).withMaxWait(Duration.ofHours(1));
        assertThat(key().queue(blocking, 1).quotas().get(0).retryAfterMicros()).isEqualTo(Quota.NEVER);
    }

    @EachBucket
    default void aSlotThatIsGivenBackIsThereForTheNextCall(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 1, 300);
        TestKey key = key();
        key.slot(limit, 1);
        key.slot(limit, 1);
        Receipt given = ((Decision.Allowed) key.queue(limit, 1)).receipt();
        assertThat(key.slot(limit, 1)).isEqualTo(300_000);
        assertThat(key.queue(limit, 1).allowed()).isFalse();
        time().advanceMicros(50_000);
        backend().giveBack(given);
        assertThat(key.slot(limit, 1)).isEqualTo(250_000);
        assertThat(key.queue(limit, 1).allowed()).isFalse();
        backend().giveBack(given);
        assertThat(key.queue(limit, 1).allowed()).isFalse();
    }

    @EachBucket
    default void withoutAReceiptNoMoreThanTheCostIsGivenBackToAQueue(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 2, 1_000);
        TestKey key = key();
        for (int call = 0; call < 10; call++) {
            key.slot(limit, 1);
        }
        key.giveBack(limit, 3);
        assertThat(key.peek(limit).resetAfterMicros()).isEqualTo(700_000);
        key.giveBack(limit, Long.MAX_VALUE);
        assertThat(key.peek(limit)).isEqualTo(key().peek(limit));
    }

    @EachBucket
    default void aShorterMaxWaitForgetsWhatIsQueuedBeyondIt(Algorithm algorithm) {
        Limit before = tenASecond(algorithm, 2, 60_000);
        TestKey key = key();
        for (int call = 0; call < 500; call++) {
            key.slot(before, 1);
        }
        Limit shorter = tenASecond(algorithm, 2, 1_000);
        assertThat(key.peek(shorter).resetAfterMicros()).isEqualTo(200_000 + 1_000_000);
        assertThat(key.queue(shorter, 1).quotas().get(0).retryAfterMicros()).isEqualTo(100_000);
        Limit unshaped = Limit.of(algorithm, 10, SECOND, 2);
        assertThat(key.refusal(unshaped, 2).retryAfterMicros()).isEqualTo(200_000);
        time().advanceMicros(200_000);
        key.spend(unshaped, 2);
    }

    @EachBucket
    default void aLoweredLimitLocksNobodyOutLongerThanItsOwnQueue(Algorithm algorithm) {
        Limit before = Limit.of(algorithm, 10_000, SECOND, 100).withMaxWait(Duration.ofSeconds(10));
        TestKey key = key();
        for (int call = 0; call < 100; call++) {
            key.slot(before, 100);
        }
        Limit after = Limit.of(algorithm, 2, SECOND, 1).withMaxWait(Duration.ofSeconds(3));
        assertThat(key.peek(after).resetAfterMicros()).isEqualTo(500_000 + 3_000_000);
        time().advanceMicros(key.queue(after, 1).quotas().get(0).retryAfterMicros());
        assertThat(key.slot(after, 1)).isEqualTo(3_000_000);
    }

    @EachBucket
    default void aStepBackOfTheClockTakesTheQueueAsOfNow(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 1, 500);
        TestKey key = key();
        for (int call = 0; call < 4; call++) {
            key.slot(limit, 1);
        }
        time().advanceMicros(-3_600_000_000L);
        assertThat(key.slot(limit, 1)).isEqualTo(400_000);
        assertThat(key.slot(limit, 1)).isEqualTo(500_000);
        assertThat(key.queue(limit, 1).quotas().get(0).retryAfterMicros()).isEqualTo(100_000);
        time().advanceMicros(100_000);
        assertThat(key.slot(limit, 1)).isEqualTo(500_000);
    }

    @EachBucket
    default void ofSeveralLimitsTheLatestSlotCountsAndAllAreCharged(Algorithm algorithm) {
        Limit second = tenASecond(algorithm, 1, 2_000);
        Limit minute = Limit.of(algorithm, 60, Duration.ofMinutes(1), 2).withMaxWait(Duration.ofSeconds(2));
        TestKey key = key();
        List<Long> slots = new ArrayList<>();
        Charge call = key.patient(2_000_000, 1, second, minute);
        for (int number = 0; number < 4; number++) {
            slots.add(((Decision.Allowed) backend().acquire(List.of(call))).waitMicros());
        }
        assertThat(slots).containsExactly(0L, 100_000L, 1_000_000L, 2_000_000L);
        List<Quota> before = backend().peek(key.charge(1, second, minute));
        assertThat(before).extracting(Quota::resetAfterMicros).containsExactly(400_000L, 4_000_000L);
        Decision refusal = backend().acquire(List.of(call));
        assertThat(refusal.quotas()).extracting(Quota::refused).containsExactly(false, true);
        assertThat(refusal.quotas()).extracting(Quota::retryAfterMicros).containsExactly(0L, 1_000_000L);
        assertThat(backend().peek(key.charge(1, second, minute))).isEqualTo(before);
    }

    @EachBucket
    default void aChargeThatDoesNotWaitRefusesTheWholeCall(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 1, 500);
        TestKey patient = key();
        TestKey impatient = key();
        List<Charge> call = List.of(patient.patient(500_000, 1, limit), impatient.charge(1, limit));
        assertThat(backend().acquire(call).allowed()).isTrue();
        Decision refusal = backend().acquire(call);
        assertThat(refusal.quotas()).extracting(Quota::refused).containsExactly(false, true);
        assertThat(patient.peek(limit).resetAfterMicros()).isEqualTo(100_000);
        impatient.reset(limit);
        assertThat(((Decision.Allowed) backend().acquire(call)).waitMicros()).isEqualTo(100_000);
    }

    @ParameterizedTest
    @CsvSource({"FIXED_WINDOW", "SLIDING_WINDOW"})
    default void aWindowRefusesACallThatWouldWaitAsAnyOther(Algorithm algorithm) {
        Limit limit = Limit.of(algorithm, 3, SECOND).withMaxWait(Duration.ofHours(1));
        TestKey key = key();
        for (int call = 0; call < 3; call++) {
            assertThat(key.slot(limit, 1)).isZero();
        }
        Decision refusal = key.queue(limit, 1);
        Quota told = key.refusal(limit, 1);
        assertThat(refusal.quotas()).containsExactly(told);
        time().advanceMicros(told.retryAfterMicros() - 1);
        assertThat(key.queue(limit, 1).allowed()).isFalse();
        time().advanceMicros(1);
        assertThat(key.slot(limit, 1)).isZero();
    }

    @ParameterizedTest(name = "{0} burst {1} max-wait {2} ms")
    @CsvSource({
        "LEAKY_BUCKET, 1, 200",
        "LEAKY_BUCKET, 1, 700",
        "LEAKY_BUCKET, 5, 1500",
        "TOKEN_BUCKET, 1, 150",
        "TOKEN_BUCKET, 10, 2500"
    })
    default void bySlotsABucketAdmitsItsBurstAndItsRate(Algorithm algorithm, long burst, long maxWaitMillis) {
        Limit limit = tenASecond(algorithm, burst, maxWaitMillis);
        TestKey key = key();
        long start = time().micros();
        List<Long> slots = new ArrayList<>();
        for (int call = 0; call < 600; call++) {
            if (key.queue(limit, 1) instanceof Decision.Allowed allowed) {
                slots.add(time().micros() + allowed.waitMicros() - start);
            }
            time().advanceMicros(call % 3 == 0 ? 41_003 : 7_919);
        }
        assertThat(slots).isSorted();
        for (long windows = 1; windows <= 10; windows++) {
            long end = windows * limit.windowMicros();
            assertThat(slots.stream().filter(slot -> slot < end).count())
                    .isBetween(burst + windows * 10 - 1, burst + windows * 10);
        }
    }

    @EachBucket
    default void peekTellsWhetherACallThatWaitsWouldBeAdmitted(Algorithm algorithm) {
        Limit limit = tenASecond(algorithm, 1, 100);
        TestKey key = key();
        key.slot(limit, 1);
        Charge patient = key.patient(100_000, 1, limit);
        assertThat(backend().peek(patient)).extracting(Quota::refused).containsExactly(false);
        assertThat(key.peek(limit).refused()).isTrue();
        key.slot(limit, 1);
        assertThat(backend().peek(patient)).extracting(Quota::retryAfterMicros).containsExactly(100_000L);
    }
}
