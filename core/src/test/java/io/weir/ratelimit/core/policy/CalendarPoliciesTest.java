// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.config.Configs;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.CalendarPeriod.Unit;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Calendar limits of policies, tiers and single keys. */
class CalendarPoliciesTest {
    private static final String LIMIT = "ratelimit.policies.api.limit=";

    @ParameterizedTest
    @EnumSource(Unit.class)
    void aWordIsAUnitOfTheCalendar(Unit unit) {
        assertThat(ReadPolicies.of(LIMIT + "7/" + unit.configName())
                        .policy("api")
                        .limits()
                        .limits())
                .containsExactly(Limit.of(7, new CalendarPeriod(unit, ZoneId.of("UTC"), 1)));
    }

    @Test
    void theAlgorithmAppliesToTheLimitsWithADuration() {
        Policy policy = ReadPolicies.of(
                        LIMIT + "10/1s, 1000000000000/month, 5/day",
                        "ratelimit.policies.api.algorithm=token-bucket",
                        "ratelimit.policies.api.burst=20",
                        "ratelimit.policies.api.zone=Europe/Berlin",
                        "ratelimit.policies.api.anchor=31")
                .policy("api");

        ZoneId berlin = ZoneId.of("Europe/Berlin");
        assertThat(policy.limits().limits())
                .containsExactly(
                        Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofSeconds(1), 20),
                        Limit.of(1_000_000_000_000L, new CalendarPeriod(Unit.MONTH, berlin, 31)),
                        Limit.of(5, new CalendarPeriod(Unit.DAY, berlin, 1)));
        assertThat(policy.limits().limitName(1)).isEqualTo("api-month");
        assertThat(policy.form().algorithm()).isEqualTo(Algorithm.TOKEN_BUCKET);
    }

    @Test
    void aMinuteOfTheCalendarIsNotAWindowOfAMinute() {
        ReadPolicies read = ReadPolicies.of(LIMIT + "10/1m, 5/minute");

        assertThat(read.found()).isEmpty();
        assertThat(read.policy("api").limits().limitName(1)).isEqualTo("api-minute");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "limit=10/month, 20/month | WEIR-109",
                "limit=10/months          | WEIR-111",
                "limit=10/Month           | WEIR-111",
                "zone=Berlin              | WEIR-102",
                "zone=+02:00              | WEIR-102",
                "anchor=0                 | WEIR-102",
                "anchor=32                | WEIR-102",
                "burst=5                  | WEIR-116",
                "lease=5                  | WEIR-128"
            })
    void reportsAWrongAttribute(String attribute, String number) {
        String[] limit = attribute.startsWith("limit") ? new String[0] : new String[] {LIMIT + "10/month"};
        String[] lines = Arrays.copyOf(limit, limit.length + 1);
        lines[limit.length] = "ratelimit.policies.api." + attribute;

        assertThat(ReadPolicies.of(lines).lines()).singleElement().asString().startsWith(number);
    }

    @Test
    void namesTheUnitsForAnUnknownWord() {
        assertThatThrownBy(
                        () -> LimitParser.parse("10/months", LimitForm.of(Algorithm.SLIDING_WINDOW), Optional.empty()))
                .hasMessage(
                        "\"months\" is neither a duration such as 1m nor one of minute, hour, day, week, month, quarter,"
                                + " year");
    }

    @Test
    void theTiersHaveTheCalendarOfThePolicy() {
        Policy policy = ReadPolicies.of(
                        LIMIT + "10/1m",
                        "ratelimit.policies.api.anchor=15",
                        "ratelimit.policies.api.tier=header:X-Plan",
                        "ratelimit.policies.api.tiers.gold.limit=1000/month")
                .policy("api");

        assertThat(policy.tiers().limits().get("gold").limits())
                .containsExactly(Limit.of(1000, new CalendarPeriod(Unit.MONTH, ZoneId.of("UTC"), 15)));
    }

    @Test
    void reportsALeaseOfATierWithACalendarLimit() {
        ReadPolicies read = ReadPolicies.of(
                LIMIT + "100/1m",
                "ratelimit.policies.api.lease=10",
                "ratelimit.policies.api.tier=header:X-Plan",
                "ratelimit.policies.api.tiers.gold.limit=1000/month");

        assertThat(read.lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-128 ratelimit.policies.api.tiers.gold.limit");
    }

    @Test
    void anAnnotationHasTheCalendarOfTheConfiguration() {
        ReadPolicies read = ReadPolicies.of(
                Configs.of("ratelimit.policies.\"Search.find\".anchor=15"),
                ReadPolicies.inline("Search.find", "Search.find", "10/month", ""));

        assertThat(read.policy("Search.find").limits().limits())
                .containsExactly(Limit.of(10, new CalendarPeriod(Unit.MONTH, ZoneId.of("UTC"), 15)));
    }

    @Test
    void anOverrideHasAnAnchorAndAZoneOfItsOwn() {
        Policy policy = ReadPolicies.of(
                        LIMIT + "10/month, 100/1m",
                        "ratelimit.policies.api.algorithm=token-bucket",
                        "ratelimit.policies.api.zone=Europe/Berlin",
                        "ratelimit.policies.api.anchor=2")
                .policy("api");

        assertThat(limits(policy, LimitOverride.of("20/month, 7/1s")))
                .containsExactly(
                        Limit.of(20, new CalendarPeriod(Unit.MONTH, ZoneId.of("Europe/Berlin"), 2)),
                        Limit.of(Algorithm.TOKEN_BUCKET, 7, Duration.ofSeconds(1)));
        assertThat(limits(policy, LimitOverride.of("20/month").withAnchor(31).withZone(ZoneId.of("Asia/Tokyo"))))
                .containsExactly(Limit.of(20, new CalendarPeriod(Unit.MONTH, ZoneId.of("Asia/Tokyo"), 31)));
        assertThatThrownBy(() -> LimitOverride.of("20/month").withAnchor(32))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anOverrideWithACalendarLimitHasNoLease() {
        Policy policy = ReadPolicies.of(LIMIT + "100/1m", "ratelimit.policies.api.lease=10")
                .policy("api");
        PolicyLimits limits = OverrideAnswer.NONE
                .next(Optional.of(new LimitOverride("1000/month", OptionalLong.empty())), policy, OverrideSources.NONE)
                .limits()
                .orElseThrow();

        assertThat(limits.lease()).isZero();
    }

    private static List<Limit> limits(Policy policy, LimitOverride override) {
        return OverrideAnswer.NONE
                .next(Optional.of(override), policy, OverrideSources.NONE)
                .limits()
                .orElseThrow()
                .limits();
    }
}
