// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A bucket charges a call that may wait at once and returns its wait; a window rejects the call. */
interface MaxWaitContract extends ContractFixture {
    Duration SECOND = Duration.ofSeconds(1);

    /** Returns a bucket of ten permits per second with a max-wait. */
    private static Limit tenPerSecond(Algorithm algorithm, long burst, long maxWaitMillis) {
        return Limit.of(algorithm, 10, SECOND, burst).withMaxWait(Duration.ofMillis(maxWaitMillis));
    }

    @EachBucket
    default void waitsIncreaseByTheRateUpToTheMaxWait(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 1, 500);
        TestKey key = key();
        for (long wait = 0; wait <= 500_000; wait += 100_000) {
            assertThat(key.waitMicros(limit, 1)).isEqualTo(wait);
        }
        Decision rejection = key.acquireWaiting(limit, 1);
        assertThat(rejection).isInstanceOf(Decision.Rejected.class);
        assertThat(QuotaMicros.retryAfter(rejection.quotas().get(0))).isEqualTo(100_000);
    }

    @ParameterizedTest(name = "{0}/{1}")
    @CsvSource({"7, PT1S", "3, PT10S", "1000003, PT1S", "1000000, PT24H"})
    default void waitsAreNeverRounded(long permits, Duration window) {
        Limit limit = Limit.of(Algorithm.LEAKY_BUCKET, permits, window).withMaxWait(Duration.ofHours(1));
        TestKey key = key();
        for (long call = 0; call < 100; call++) {
            long exact = -Math.floorDiv(-call * limit.windowUnits(), permits) * limit.unitMicros();
            assertThat(key.waitMicros(limit, 1)).isEqualTo(exact);
        }
    }

    @EachBucket
    default void callsBeyondTheBurstWait(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 3, 300);
        TestKey key = key();
        assertThat(key.waitMicros(limit, 2)).isZero();
        assertThat(key.waitMicros(limit, 2)).isEqualTo(100_000);
        assertThat(key.waitMicros(limit, 1)).isEqualTo(200_000);
        assertThat(key.waitMicros(limit, 1)).isEqualTo(300_000);
        assertThat(key.acquireWaiting(limit, 1).allowed()).isFalse();
    }

    @EachBucket
    default void retryAfterIsTheShortestSufficientWaitBeforeAWait(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 2, 250);
        TestKey key = key();
        time().advanceMicros(17);
        for (int call = 0; call < 4; call++) {
            key.waitMicros(limit, 1);
        }
        for (long cost : new long[] {1, 2}) {
            long wait = QuotaMicros.retryAfter(
                    key.acquireWaiting(limit, cost).quotas().get(0));
            assertThat(wait).isEqualTo(cost == 1 ? 50_000 : 200_000);
            time().advanceMicros(wait - 1);
            assertThat(QuotaMicros.retryAfter(
                            key.acquireWaiting(limit, cost).quotas().get(0)))
                    .isEqualTo(1);
            time().advanceMicros(1);
            assertThat(key.waitMicros(limit, cost)).isEqualTo(250_000);
        }
    }

    @EachBucket
    default void rejectsACallThatWouldWaitTooLong(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 1, 500);
        TestKey key = key();
        key.waitMicros(limit, 1);
        Decision.Rejected rejected =
                (Decision.Rejected) backend().acquire(List.of(key.waitingCharge(99_999, 1, limit)));
        assertThat(QuotaMicros.retryAfter(rejected.decisiveQuota())).isEqualTo(1);
        assertThat(backend()
                        .acquire(List.of(key.waitingCharge(100_000, 1, limit)))
                        .allowed())
                .isTrue();
        assertThat(backend()
                        .acquire(List.of(key.waitingCharge(Long.MAX_VALUE, 1, limit)))
                        .allowed())
                .isTrue();
    }

    @EachBucket
    default void waitBeyondTheMaxWaitOfTheLimitDoesNotCount(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 1, 100);
        TestKey key = key();
        key.waitMicros(limit, 1);
        key.waitMicros(limit, 1);
        Decision rejection = backend().acquire(List.of(key.waitingCharge(Long.MAX_VALUE, 1, limit)));
        assertThat(QuotaMicros.retryAfter(rejection.quotas().get(0))).isEqualTo(100_000);
        Limit withoutMaxWait = Limit.of(algorithm, 10, SECOND, 1);
        assertThat(backend()
                        .acquire(List.of(key.waitingCharge(Long.MAX_VALUE, 1, withoutMaxWait)))
                        .allowed())
                .isFalse();
    }

    @EachBucket
    default void rejectsACallWithoutWaitWhileOthersWait(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 1, 500);
        TestKey key = key();
        for (int call = 0; call < 3; call++) {
            key.waitMicros(limit, 1);
        }
        Quota quota = key.rejection(limit, 1);
        assertThat(QuotaMicros.retryAfter(quota)).isEqualTo(300_000);
        assertThat(quota.remaining()).isZero();
        assertThat(QuotaMicros.nextPermitAfter(quota)).isEqualTo(300_000);
        assertThat(QuotaMicros.resetAfter(quota)).isEqualTo(300_000);
        time().advanceMicros(299_999);
        key.rejection(limit, 1);
        time().advanceMicros(1);
        key.spend(limit, 1);
    }

    @EachBucket
    default void debtNeverExceedsTheCapacityAndTheMaxWait(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 4, 1_050);
        TestKey key = key();
        for (int call = 0; call < 50; call++) {
            key.acquireWaiting(limit, 1 + call % 4);
            assertThat(QuotaMicros.resetAfter(key.peek(limit))).isLessThanOrEqualTo(400_000 + 1_050_000);
            time().advanceMicros(33_333);
        }
    }

    @EachBucket
    default void rejectedCallDoesNotDelayOthers(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 1, 200);
        TestKey key = key();
        for (int call = 0; call < 3; call++) {
            key.waitMicros(limit, 1);
        }
        Quota before = key.peek(limit);
        for (int call = 0; call < 20; call++) {
            assertThat(key.acquireWaiting(limit, 1).allowed()).isFalse();
        }
        assertThat(key.peek(limit)).isEqualTo(before);
    }

    @EachBucket
    default void rejectsACostAboveTheBurstForever(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 3, 3_600_000);
        assertThat(QuotaMicros.retryAfter(
                        key().acquireWaiting(limit, 4).quotas().get(0)))
                .isEqualTo(QuotaMicros.NEVER);
        Limit blocking = Limit.of(algorithm, 0, SECOND).withMaxWait(Duration.ofHours(1));
        assertThat(QuotaMicros.retryAfter(
                        key().acquireWaiting(blocking, 1).quotas().get(0)))
                .isEqualTo(QuotaMicros.NEVER);
    }

    @EachBucket
    default void refundOfAWaitingCallShortensTheNextWait(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 1, 300);
        TestKey key = key();
        key.waitMicros(limit, 1);
        key.waitMicros(limit, 1);
        Receipt receipt = ((Decision.Allowed) key.acquireWaiting(limit, 1)).receipt();
        assertThat(key.waitMicros(limit, 1)).isEqualTo(300_000);
        assertThat(key.acquireWaiting(limit, 1).allowed()).isFalse();
        time().advanceMicros(50_000);
        backend().refund(receipt);
        assertThat(key.waitMicros(limit, 1)).isEqualTo(250_000);
        assertThat(key.acquireWaiting(limit, 1).allowed()).isFalse();
        backend().refund(receipt);
        assertThat(key.acquireWaiting(limit, 1).allowed()).isFalse();
    }

    @EachBucket
    default void refundWithoutReceiptReducesTheDebtByTheCost(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 2, 1_000);
        TestKey key = key();
        for (int call = 0; call < 10; call++) {
            key.waitMicros(limit, 1);
        }
        key.refund(limit, 3);
        assertThat(QuotaMicros.resetAfter(key.peek(limit))).isEqualTo(700_000);
        key.refund(limit, Long.MAX_VALUE);
        assertThat(key.peek(limit)).isEqualTo(key().peek(limit));
    }

    @EachBucket
    default void shorterMaxWaitReducesTheDebt(Algorithm algorithm) {
        Limit before = tenPerSecond(algorithm, 2, 60_000);
        TestKey key = key();
        for (int call = 0; call < 500; call++) {
            key.waitMicros(before, 1);
        }
        Limit shorter = tenPerSecond(algorithm, 2, 1_000);
        assertThat(QuotaMicros.resetAfter(key.peek(shorter))).isEqualTo(200_000 + 1_000_000);
        assertThat(QuotaMicros.retryAfter(
                        key.acquireWaiting(shorter, 1).quotas().get(0)))
                .isEqualTo(100_000);
        Limit withoutMaxWait = Limit.of(algorithm, 10, SECOND, 2);
        assertThat(QuotaMicros.retryAfter(key.rejection(withoutMaxWait, 2))).isEqualTo(200_000);
        time().advanceMicros(200_000);
        key.spend(withoutMaxWait, 2);
    }

    @EachBucket
    default void loweredLimitNeverExceedsItsMaxWait(Algorithm algorithm) {
        Limit before = Limit.of(algorithm, 10_000, SECOND, 100).withMaxWait(Duration.ofSeconds(10));
        TestKey key = key();
        for (int call = 0; call < 100; call++) {
            key.waitMicros(before, 100);
        }
        Limit after = Limit.of(algorithm, 2, SECOND, 1).withMaxWait(Duration.ofSeconds(3));
        assertThat(QuotaMicros.resetAfter(key.peek(after))).isEqualTo(500_000 + 3_000_000);
        time().advanceMicros(QuotaMicros.retryAfter(
                key.acquireWaiting(after, 1).quotas().get(0)));
        assertThat(key.waitMicros(after, 1)).isEqualTo(3_000_000);
    }

    @EachBucket
    default void stepBackOfTheClockKeepsTheDebt(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 1, 500);
        TestKey key = key();
        for (int call = 0; call < 4; call++) {
            key.waitMicros(limit, 1);
        }
        time().advanceMicros(-3_600_000_000L);
        assertThat(key.waitMicros(limit, 1)).isEqualTo(400_000);
        assertThat(key.waitMicros(limit, 1)).isEqualTo(500_000);
        assertThat(QuotaMicros.retryAfter(key.acquireWaiting(limit, 1).quotas().get(0)))
                .isEqualTo(100_000);
        time().advanceMicros(100_000);
        assertThat(key.waitMicros(limit, 1)).isEqualTo(500_000);
    }

    @EachBucket
    default void longestWaitOfSeveralLimitsCounts(Algorithm algorithm) {
        Limit second = tenPerSecond(algorithm, 1, 2_000);
        Limit minute = Limit.of(algorithm, 60, Duration.ofMinutes(1), 2).withMaxWait(Duration.ofSeconds(2));
        TestKey key = key();
        List<Long> waits = new ArrayList<>();
        Charge call = key.waitingCharge(2_000_000, 1, second, minute);
        for (int number = 0; number < 4; number++) {
            waits.add(((Decision.Allowed) backend().acquire(List.of(call))).waitMicros());
        }
        assertThat(waits).containsExactly(0L, 100_000L, 1_000_000L, 2_000_000L);
        List<Quota> before = backend().peek(key.charge(1, second, minute));
        assertThat(before).extracting(QuotaMicros::resetAfter).containsExactly(400_000L, 4_000_000L);
        Decision rejection = backend().acquire(List.of(call));
        assertThat(rejection.quotas()).extracting(Quota::rejected).containsExactly(false, true);
        assertThat(rejection.quotas()).extracting(QuotaMicros::retryAfter).containsExactly(0L, 1_000_000L);
        assertThat(backend().peek(key.charge(1, second, minute))).isEqualTo(before);
    }

    @EachBucket
    default void chargeWithoutWaitRejectsTheWholeCall(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 1, 500);
        TestKey waiting = key();
        TestKey other = key();
        List<Charge> call = List.of(waiting.waitingCharge(500_000, 1, limit), other.charge(1, limit));
        assertThat(backend().acquire(call).allowed()).isTrue();
        Decision rejection = backend().acquire(call);
        assertThat(rejection.quotas()).extracting(Quota::rejected).containsExactly(false, true);
        assertThat(QuotaMicros.resetAfter(waiting.peek(limit))).isEqualTo(100_000);
        other.reset(limit);
        assertThat(((Decision.Allowed) backend().acquire(call)).waitMicros()).isEqualTo(100_000);
    }

    @ParameterizedTest
    @CsvSource({"FIXED_WINDOW", "SLIDING_WINDOW"})
    default void windowRejectsACallThatCouldWait(Algorithm algorithm) {
        Limit limit = Limit.of(algorithm, 3, SECOND).withMaxWait(Duration.ofHours(1));
        TestKey key = key();
        for (int call = 0; call < 3; call++) {
            assertThat(key.waitMicros(limit, 1)).isZero();
        }
        Decision rejection = key.acquireWaiting(limit, 1);
        Quota quota = key.rejection(limit, 1);
        assertThat(rejection.quotas()).containsExactly(quota);
        time().advanceMicros(QuotaMicros.retryAfter(quota) - 1);
        assertThat(key.acquireWaiting(limit, 1).allowed()).isFalse();
        time().advanceMicros(1);
        assertThat(key.waitMicros(limit, 1)).isZero();
    }

    @ParameterizedTest(name = "{0} burst {1} max-wait {2} ms")
    @CsvSource({
        "LEAKY_BUCKET, 1, 200",
        "LEAKY_BUCKET, 1, 700",
        "LEAKY_BUCKET, 5, 1500",
        "TOKEN_BUCKET, 1, 150",
        "TOKEN_BUCKET, 10, 2500"
    })
    default void waitingCallsProceedAtTheBurstAndTheRate(Algorithm algorithm, long burst, long maxWaitMillis) {
        Limit limit = tenPerSecond(algorithm, burst, maxWaitMillis);
        TestKey key = key();
        long start = time().micros();
        List<Long> waits = new ArrayList<>();
        for (int call = 0; call < 600; call++) {
            if (key.acquireWaiting(limit, 1) instanceof Decision.Allowed allowed) {
                waits.add(time().micros() + allowed.waitMicros() - start);
            }
            time().advanceMicros(call % 3 == 0 ? 41_003 : 7_919);
        }
        assertThat(waits).isSorted();
        for (long windows = 1; windows <= 10; windows++) {
            long end = windows * limit.windowMicros();
            assertThat(waits.stream().filter(instant -> instant < end).count())
                    .isBetween(burst + windows * 10 - 1, burst + windows * 10);
        }
    }

    @EachBucket
    default void peekIncludesTheMaxWait(Algorithm algorithm) {
        Limit limit = tenPerSecond(algorithm, 1, 100);
        TestKey key = key();
        key.waitMicros(limit, 1);
        Charge charge = key.waitingCharge(100_000, 1, limit);
        assertThat(backend().peek(charge)).extracting(Quota::rejected).containsExactly(false);
        assertThat(key.peek(limit).rejected()).isTrue();
        key.waitMicros(limit, 1);
        assertThat(backend().peek(charge)).extracting(QuotaMicros::retryAfter).containsExactly(100_000L);
    }
}
