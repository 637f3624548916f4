// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.CalendarPeriod.Unit;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calendar limits: their periods, and what is spent if the zone or the anchor changes. */
interface CalendarContract extends ContractFixture {
    Instant ORIGIN = Instant.parse("2025-01-01T00:00:00Z");

    static Limit monthly(long permits, String zone, int anchor) {
        return Limit.of(permits, new CalendarPeriod(Unit.MONTH, ZoneId.of(zone), anchor));
    }

    static void setTime(ManualTime time, String instant) {
        time.advanceMicros(ChronoUnit.MICROS.between(ORIGIN, Instant.parse(instant)) - time.micros());
    }

    private void setTime(String instant) {
        setTime(time(), instant);
    }

    @ParameterizedTest
    @CsvSource({
        "MINUTE, UTC, 1, 2026-11-24T10:20:30Z, 2026-11-24T10:21:00Z, 60",
        "HOUR, Asia/Kathmandu, 1, 2026-11-24T10:20:30Z, 2026-11-24T11:15:00Z, 3600",
        "HOUR, Europe/Berlin, 1, 2026-10-25T00:30:00Z, 2026-10-25T01:00:00Z, 3600",
        "HOUR, Australia/Lord_Howe, 1, 2026-04-04T14:30:00Z, 2026-04-04T15:30:00Z, 5400",
        "DAY, Europe/Berlin, 1, 2026-03-29T12:00:00Z, 2026-03-29T22:00:00Z, 82800",
        "DAY, Europe/Berlin, 1, 2026-10-25T12:00:00Z, 2026-10-25T23:00:00Z, 90000",
        "DAY, Africa/Cairo, 1, 2026-04-24T12:00:00Z, 2026-04-24T21:00:00Z, 82800",
        "WEEK, America/New_York, 1, 2026-10-31T12:00:00Z, 2026-11-02T05:00:00Z, 608400",
        "MONTH, Europe/Berlin, 1, 2026-11-24T10:20:30Z, 2026-11-30T23:00:00Z, 2592000",
        "MONTH, UTC, 31, 2028-02-10T00:00:00Z, 2028-02-29T00:00:00Z, 2505600",
        "MONTH, Pacific/Kiritimati, 30, 2027-02-10T00:00:00Z, 2027-02-27T10:00:00Z, 2505600",
        "QUARTER, UTC, 15, 2026-11-24T10:20:30Z, 2027-01-15T00:00:00Z, 7948800",
        "YEAR, Pacific/Pago_Pago, 1, 2028-11-24T10:20:30Z, 2029-01-01T11:00:00Z, 31622400"
    })
    default void changesThePeriodAtTheInstant(
            Unit unit, String zone, int anchor, String instant, Instant end, long seconds) {
        Limit limit = Limit.of(3, new CalendarPeriod(unit, ZoneId.of(zone), anchor));
        TestKey key = key();
        setTime(instant);
        key.spend(limit, 2);
        long wait = ChronoUnit.MICROS.between(Instant.parse(instant), end);

        Quota rejected = key.rejection(limit, 2);
        assertThat(rejected)
                .isEqualTo(QuotaMicros.build(
                        Quota.builder("api", "api")
                                .calendar(3, Duration.ofSeconds(seconds), end.atZone(ZoneId.of(zone)))
                                .remaining(1),
                        wait,
                        wait,
                        wait));

        time().advanceMicros(wait - 1);
        assertThat(QuotaMicros.retryAfter(key.rejection(limit, 2))).isEqualTo(1);

        time().advanceMicros(1);
        assertThat(key.peek(limit).remaining()).isEqualTo(3);
        assertThat(QuotaMicros.resetAfter(key.peek(limit))).isZero();
        key.spend(limit, 3);
        assertThat(key.rejection(limit, 1).periodEnd().orElseThrow()).isAfter(end.atZone(ZoneId.of(zone)));
    }

    @Test
    default void aLimitWithoutPermitsBlocks() {
        assertThat(QuotaMicros.retryAfter(key().rejection(monthly(0, "UTC", 1), 1)))
                .isEqualTo(QuotaMicros.NEVER);
    }

    @Test
    default void countsTheMostPermitsExactly() {
        Limit limit = monthly(Limit.MAX_PERMITS, "UTC", 1);
        TestKey key = key();
        key.spend(limit, Limit.MAX_PERMITS - 1);

        assertThat(key.remaining(limit)).isEqualTo(1);
        key.spend(limit, 1);
        assertThat(key.rejection(limit, 1).remaining()).isZero();
    }

    @Test
    default void aCostAboveTheLimitIsNeverAllowed() {
        assertThat(QuotaMicros.retryAfter(key().rejection(monthly(3, "UTC", 1), 4)))
                .isEqualTo(QuotaMicros.NEVER);
    }

    @Test
    default void isAtomicWithOtherLimits() {
        Limit window = Limit.of(Algorithm.FIXED_WINDOW, 1, Duration.ofSeconds(1));
        Limit month = monthly(10, "UTC", 1);
        Limit day = Limit.of(2, new CalendarPeriod(Unit.DAY, ZoneId.of("UTC"), 1));
        TestKey key = key();
        setTime("2026-11-30T12:00:00Z");
        List<Charge> charges = List.of(key.charge(1, window, month, day));

        Decision first = key.backend().acquire(charges);
        Decision second = key.backend().acquire(charges);

        assertThat(first.allowed()).isTrue();
        assertThat(first.quotas()).extracting(Quota::name).containsExactly("api-1s", "api-month", "api-day");
        assertThat(second.allowed()).isFalse();
        assertThat(second.quotas()).extracting(Quota::remaining).containsExactly(0L, 9L, 1L);
        time().advanceMicros(1_000_000);
        assertThat(key.backend().acquire(charges).allowed()).isTrue();
        time().advanceMicros(1_000_000);
        assertThat(key.backend().acquire(charges).quotas())
                .extracting(Quota::rejected)
                .containsExactly(false, false, true);
        setTime("2026-12-01T00:00:00Z");
        assertThat(key.backend().acquire(charges).quotas())
                .extracting(Quota::remaining)
                .containsExactly(0L, 9L, 1L);
    }

    @Test
    default void aWindowOfTheSameLengthIsAnotherLimit() {
        Limit window = Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofMinutes(1));
        Limit minute = Limit.of(3, new CalendarPeriod(Unit.MINUTE, ZoneId.of("UTC"), 1));
        TestKey key = key();

        key.backend().acquire(List.of(key.charge(1, window, minute)));

        assertThat(key.backend().peek(key.charge(1, window, minute)))
                .extracting(Quota::remaining)
                .containsExactly(4L, 2L);
    }

    @Test
    default void decidesOnTwoPoliciesOfOneKey() {
        PolicyLimits other = new PolicyLimits("other", List.of(monthly(1, "UTC", 1)));
        TestKey key = key();
        List<Charge> charges = List.of(key.charge(1, monthly(5, "UTC", 1)), new Charge(other, key.storedKey(), 1));

        assertThat(key.backend().acquire(charges).allowed()).isTrue();
        assertThat(key.backend().acquire(charges).quotas())
                .extracting(Quota::remaining)
                .containsExactly(4L, 0L);
    }

    @Test
    default void refundsInThePeriodOfTheCharge() {
        Limit limit = monthly(3, "UTC", 1);
        TestKey key = key();
        setTime("2026-11-30T23:59:59Z");
        Decision.Allowed november = key.spend(limit, 2);
        Decision.Allowed sameMonth = key.spend(limit, 1);

        key.backend().refund(sameMonth.receipt());
        assertThat(key.remaining(limit)).isEqualTo(1);
        key.backend().refund(sameMonth.receipt());
        assertThat(key.remaining(limit)).isEqualTo(1);

        setTime("2026-12-01T00:00:00Z");
        key.spend(limit, 2);
        key.backend().refund(november.receipt());
        assertThat(key.remaining(limit)).isEqualTo(1);
    }

    @Test
    default void refundsACostAndResets() {
        Limit limit = monthly(3, "UTC", 1);
        TestKey key = key();
        key.spend(limit, 3);
        key.refund(limit, 2);
        assertThat(key.remaining(limit)).isEqualTo(2);
        key.refund(limit, 2);
        assertThat(QuotaMicros.resetAfter(key.peek(limit))).isZero();
        key.spend(limit, 3);
        key.reset(limit);
        assertThat(key.remaining(limit)).isEqualTo(3);
    }

    @Test
    default void aChangedZoneKeepsWhatWasSpentUntilTheEarlierEnd() {
        TestKey key = key();
        setTime("2026-11-24T12:00:00Z");
        Decision.Allowed charged = key.spend(monthly(5, "UTC", 1), 4);

        Quota quota = key.rejection(monthly(5, "America/New_York", 1), 2);

        assertThat(quota.remaining()).isEqualTo(1);
        assertThat(quota.periodEnd()).contains(ZonedDateTime.parse("2026-11-30T19:00:00-05:00[America/New_York]"));
        assertThat(key.rejection(monthly(5, "Europe/Berlin", 1), 2).periodEnd())
                .contains(ZonedDateTime.parse("2026-12-01T00:00:00+01:00[Europe/Berlin]"));
        key.backend().refund(charged.receipt());
        assertThat(key.remaining(monthly(5, "Europe/Berlin", 1))).isEqualTo(5);
    }

    @Test
    default void aChargeAfterAChangedZoneMovesTheCountToTheNewPeriod() {
        Limit newYork = monthly(5, "America/New_York", 1);
        TestKey key = key();
        setTime("2026-11-24T12:00:00Z");
        Decision.Allowed before = key.spend(monthly(5, "UTC", 1), 3);
        key.spend(newYork, 1);
        setTime("2026-12-01T04:59:59Z");

        assertThat(key.remaining(newYork)).isEqualTo(1);
        key.backend().refund(before.receipt());
        assertThat(key.remaining(newYork)).isEqualTo(4);

        setTime("2026-12-01T05:00:00Z");
        assertThat(key.remaining(newYork)).isEqualTo(5);
    }

    @Test
    default void aChangedAnchorKeepsWhatWasSpent() {
        Limit first = monthly(5, "UTC", 1);
        Limit fifteenth = monthly(5, "UTC", 15);
        Limit twentieth = monthly(5, "UTC", 20);
        TestKey key = key();
        setTime("2026-11-10T00:00:00Z");
        key.spend(first, 3);

        assertThat(key.remaining(fifteenth)).isEqualTo(2);
        setTime("2026-11-15T00:00:00Z");
        assertThat(key.remaining(fifteenth))
                .as("a period after the latest charge")
                .isEqualTo(5);
        assertThat(key.remaining(twentieth))
                .as("the period of the latest charge")
                .isEqualTo(2);
        setTime("2026-11-20T00:00:00Z");
        assertThat(key.remaining(first)).as("the former anchor again").isEqualTo(2);
    }

    @Test
    default void aLoweredLimitCountsAtMostItsPermits() {
        TestKey key = key();
        key.spend(monthly(10, "UTC", 1), 8);

        assertThat(key.remaining(monthly(5, "UTC", 1))).isZero();
        assertThat(key.remaining(monthly(20, "UTC", 1))).isEqualTo(12);
    }

    @Test
    default void aStateOfTheFutureCountsUntilTheEndOfTheCurrentPeriod() {
        Limit limit = monthly(3, "UTC", 1);
        TestKey key = key();
        setTime("2026-12-15T00:00:00Z");
        key.spend(limit, 3);
        setTime("2026-11-15T00:00:00Z");

        assertThat(key.rejection(limit, 1).periodEnd()).contains(ZonedDateTime.parse("2026-12-01T00:00:00Z[UTC]"));
        setTime("2026-12-01T00:00:00Z");
        assertThat(key.remaining(limit)).isEqualTo(3);
    }

    @Test
    default void aCallInShadowModeIsCountedIfThereIsRoom() {
        Limit limit = monthly(1, "UTC", 1);
        TestKey key = key();
        List<Charge> shadow = List.of(key.charge(1, limit).asShadow());

        assertThat(key.backend().acquire(shadow).allowed()).isTrue();
        Decision second = key.backend().acquire(shadow);

        assertThat(second.allowed()).isTrue();
        assertThat(second.shadowQuotas()).extracting(Quota::rejected).containsExactly(true);
    }

    @Test
    default void aCallDoesNotWaitForTheNextPeriod() {
        Limit limit = monthly(1, "UTC", 1).withMaxWait(Duration.ofHours(1));
        TestKey key = key();
        setTime("2026-11-30T23:59:59Z");
        key.spend(limit, 1);

        assertThat(key.acquireWaiting(limit, 1).allowed()).isFalse();
    }
}
