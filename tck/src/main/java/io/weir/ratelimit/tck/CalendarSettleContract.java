// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static io.weir.ratelimit.tck.CalendarContract.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Settlements under calendar limits. The debt of a calendar limit ends with its period. */
interface CalendarSettleContract extends ContractFixture {

    private static Limit limit() {
        return monthly(10, "UTC", 1);
    }

    private void setTime(String instant) {
        CalendarContract.setTime(time(), instant);
    }

    private void settle(Receipt receipt, long actualCost) {
        backend().settle(receipt, charge -> true, actualCost);
    }

    @ParameterizedTest(name = "{0} instead of 4")
    @ValueSource(longs = {0, 1, 4, 7, 9})
    default void settledCalendarKeyEqualsAKeyThatSpentTheActualCost(long actual) {
        TestKey key = key();
        TestKey twin = key();
        setTime("2026-11-24T12:00:00Z");
        key.spend(limit(), 1);
        twin.spend(limit(), 1);
        Receipt receipt = key.spend(limit(), 4).receipt();
        if (actual > 0) {
            twin.spend(limit(), actual);
        }
        setTime("2026-11-25T12:00:00Z");
        settle(receipt, actual);
        for (String instant : List.of("2026-11-25T12:00:00Z", "2026-11-30T23:59:59Z", "2026-12-01T00:00:00Z")) {
            setTime(instant);
            for (long cost : new long[] {1, 5, 10}) {
                assertThat(key.peek(limit(), cost)).as(instant).isEqualTo(twin.peek(limit(), cost));
            }
        }
    }

    @Test
    default void calendarKeyInDebtIsRejectedUntilThePeriodEnds() {
        TestKey key = key();
        setTime("2026-11-24T00:00:00Z");
        Receipt receipt = key.spend(limit(), 10).receipt();
        settle(receipt, 15);
        Quota rejected = key.rejection(limit(), 1);
        assertThat(rejected.remaining()).isZero();
        assertThat(QuotaMicros.retryAfter(rejected))
                .isEqualTo(Duration.ofDays(7).toMillis() * 1_000);

        setTime("2026-12-01T00:00:00Z");
        key.spend(limit(), 10);
    }

    @Test
    default void refundsReduceTheDebtOfACalendarLimit() {
        TestKey key = key();
        setTime("2026-11-24T00:00:00Z");
        Receipt first = key.spend(limit(), 4).receipt();
        Receipt second = key.spend(limit(), 6).receipt();
        settle(first, 9);
        settle(second, 2);
        assertThat(key.remaining(limit())).as("10 - 9 - 2").isZero();
        key.rejection(limit(), 1);
        key.refund(limit(), 2);
        assertThat(key.remaining(limit())).isEqualTo(1);
        backend().refund(first);
        assertThat(QuotaMicros.resetAfter(key.peek(limit()))).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    default void settlementAfterThePeriodHasNoEffect(boolean spends) {
        TestKey key = key();
        TestKey twin = key();
        setTime("2026-11-30T23:59:59Z");
        Receipt less = key.spend(limit(), 4).receipt();
        Receipt more = key.spend(limit(), 4).receipt();
        setTime("2026-12-01T00:00:00Z");
        if (spends) {
            key.spend(limit(), 5);
            twin.spend(limit(), 5);
        }
        settle(less, 1);
        settle(more, 100);
        assertThat(key.peek(limit(), 10)).isEqualTo(twin.peek(limit(), 10));
        key.spend(limit(), 5);
    }

    @Test
    default void calendarDebtIsBoundedAndCountsUnderARaisedLimit() {
        TestKey key = key();
        setTime("2026-11-24T00:00:00Z");
        Receipt receipt = key.spend(limit(), 5).receipt();
        Receipt other = key.spend(limit(), 5).receipt();
        settle(receipt, Long.MAX_VALUE);
        settle(other, Long.MAX_VALUE);

        assertThat(key.remaining(monthly(100, "UTC", 1))).as("100 - 2 x 10").isEqualTo(80);
        assertThat(key.remaining(monthly(25, "UTC", 1))).isEqualTo(5);
        assertThat(key.remaining(monthly(5, "UTC", 1))).isZero();
        key.spend(monthly(25, "UTC", 1), 5);
        key.rejection(monthly(25, "UTC", 1), 1);
    }

    @Test
    default void theMostPermitsOfACalendarLimitCanBeADebt() {
        Limit limit = monthly(Limit.MAX_PERMITS, "UTC", 1);
        TestKey key = key();
        setTime("2026-11-24T00:00:00Z");
        Receipt receipt = key.spend(limit, Limit.MAX_PERMITS).receipt();
        settle(receipt, Long.MAX_VALUE);
        assertThat(key.rejection(limit, 1).remaining()).isZero();
        key.refund(limit, 1);
        assertThat(key.remaining(limit)).isZero();
        key.refund(limit, 1);
        assertThat(key.remaining(limit)).isEqualTo(1);
        backend().refund(receipt);
        assertThat(key.peek(limit)).isEqualTo(key().peek(limit));
    }

    @Test
    default void resetRemovesTheDebtOfACalendarLimit() {
        TestKey key = key();
        settle(key.spend(limit(), 10).receipt(), 15);
        key.reset(limit());
        key.spend(limit(), 10);
    }

    @Test
    default void aChangedZoneKeepsTheDebt() {
        TestKey key = key();
        setTime("2026-11-24T12:00:00Z");
        Receipt before = key.spend(limit(), 3).receipt();
        key.spend(monthly(10, "America/New_York", 1), 1);
        settle(before, 14);

        assertThat(key.remaining(monthly(20, "America/New_York", 1)))
                .as("20 - 14 - 1")
                .isEqualTo(5);
        assertThat(key.remaining(monthly(20, "Europe/Berlin", 1))).isEqualTo(5);
        setTime("2026-12-01T04:59:59Z");
        key.rejection(monthly(10, "America/New_York", 1), 1);
        setTime("2026-12-01T05:00:00Z");
        key.spend(monthly(10, "America/New_York", 1), 10);
    }

    @Test
    default void aDebtOfTheFutureCountsUntilTheEndOfTheCurrentPeriod() {
        TestKey key = key();
        setTime("2026-12-15T00:00:00Z");
        settle(key.spend(limit(), 10).receipt(), 15);
        setTime("2026-11-15T00:00:00Z");
        key.rejection(limit(), 1);
        assertThat(key.remaining(monthly(20, "UTC", 1))).isEqualTo(5);

        setTime("2026-12-01T00:00:00Z");
        assertThat(key.remaining(limit())).isEqualTo(10);
    }

    @Test
    default void settlesACalendarLimitTogetherWithAWindow() {
        Limit window = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1));
        TestKey key = key();
        setTime("2026-11-24T00:00:00Z");
        Charge charge = key.charge(4, window, limit());
        Receipt receipt = ((Decision.Allowed) backend().acquire(List.of(charge))).receipt();
        settle(receipt, 15);
        assertThat(backend().acquire(List.of(charge)).allowed()).isFalse();
        time().advanceMicros(60_000_000);
        assertThat(backend().peek(charge)).extracting(Quota::remaining).containsExactly(10L, 0L);
        backend().refund(receipt);
        assertThat(backend().peek(charge)).extracting(Quota::remaining).containsExactly(10L, 10L);
    }
}
