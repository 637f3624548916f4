// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class QuotaTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** The quota of a limit that rejected the call with a wait in microseconds. */
    static Quota rejected(String policy, String name, long waitMicros) {
        return full(policy, name)
                .rejectedFor(Duration.of(waitMicros, ChronoUnit.MICROS))
                .build();
    }

    static Quota rejectedForEver(String policy, String name) {
        return full(policy, name).rejectedForEver().build();
    }

    private static Quota.Builder full(String policy, String name) {
        return Quota.builder(policy, name).window(5, MINUTE).remaining(0).resetAfter(MINUTE);
    }

    static Quota allowed(String policy) {
        return Quota.builder(policy, policy)
                .window(5, MINUTE)
                .remaining(3)
                .resetAfter(MINUTE)
                .build();
    }

    @Test
    void isThatOfAnUntouchedKeyByDefault() {
        Quota quota = Quota.builder("api", "api-1m").window(5, MINUTE).build();
        assertThat(quota.policy()).isEqualTo("api");
        assertThat(quota.name()).isEqualTo("api-1m");
        assertThat(quota.kind()).isEqualTo(Quota.Kind.WINDOW);
        assertThat(quota.capacity()).isEqualTo(5);
        assertThat(quota.remaining()).isEqualTo(5);
        assertThat(quota.rejected()).isFalse();
        assertThat(quota.blocked()).isFalse();
        assertThat(quota.resetAfter()).isZero();
        assertThat(quota.nextPermitAfter()).isZero();
        assertThat(quota.periodEnd()).isEmpty();
    }

    @Test
    void eachKindHasItsWindow() {
        ZonedDateTime end = ZonedDateTime.parse("2026-12-01T00:00:00+01:00[Europe/Berlin]");
        Quota month = Quota.builder("api", "api")
                .calendar(5, Duration.ofDays(30), end)
                .build();
        assertThat(month.kind()).isEqualTo(Quota.Kind.CALENDAR);
        assertThat(month.window()).isEqualTo(Duration.ofDays(30));
        assertThat(month.periodEnd()).contains(end);
        Quota slots = Quota.builder("api", "api").concurrency(5).build();
        assertThat(slots.kind()).isEqualTo(Quota.Kind.CONCURRENCY);
        assertThat(slots.window()).isZero();
        assertThat(slots.permits()).isEqualTo(5);
    }

    @Test
    void retryAfterIsZeroIfTheLimitDidNotReject() {
        assertThat(allowed("api").retryAfter()).contains(Duration.ZERO);
    }

    @Test
    void retryAfterIsEmptyIfNoWaitHelps() {
        assertThat(rejectedForEver("api", "api").retryAfter()).isEmpty();
    }

    static Stream<UnaryOperator<Quota.Builder>> setters() {
        Duration negative = Duration.ofNanos(-1);
        return Stream.of(
                quota -> quota.window(-1, MINUTE),
                quota -> quota.window(1, negative),
                quota -> quota.concurrency(-1),
                quota -> quota.capacity(-1),
                quota -> quota.remaining(-1),
                quota -> quota.rejectedFor(negative),
                quota -> quota.resetAfter(negative),
                quota -> quota.nextPermitAfter(negative),
                quota -> quota.blockedFor(negative));
    }

    @ParameterizedTest
    @MethodSource("setters")
    void rejectsNegativeValues(UnaryOperator<Quota.Builder> setter) {
        assertThatThrownBy(() -> setter.apply(Quota.builder("api", "api-1m")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("negative value in the quota of api-1m");
    }

    @ParameterizedTest
    @MethodSource("changes")
    void quotasWithAnotherValueDiffer(UnaryOperator<Quota.Builder> change) {
        Quota quota = allowed("api");
        Quota changed = change.apply(quota.toBuilder()).build();
        assertThat(changed).isNotEqualTo(quota).isEqualTo(changed.toBuilder().build());
        assertThat(changed.toBuilder().build()).hasSameHashCodeAs(changed).hasToString(changed.toString());
    }

    static Stream<UnaryOperator<Quota.Builder>> changes() {
        ZonedDateTime end = ZonedDateTime.parse("2026-12-01T00:00:00+01:00[Europe/Berlin]");
        return Stream.of(
                quota -> quota.window(6, MINUTE),
                quota -> quota.window(5, Duration.ofHours(1)),
                quota -> quota.calendar(5, MINUTE, end),
                quota -> quota.concurrency(5),
                quota -> quota.capacity(9),
                quota -> quota.remaining(1),
                quota -> quota.rejectedFor(MINUTE),
                Quota.Builder::rejectedForEver,
                quota -> quota.resetAfter(Duration.ofSeconds(1)),
                quota -> quota.nextPermitAfter(Duration.ofSeconds(1)),
                quota -> quota.blockedFor(Duration.ofSeconds(1)));
    }

    private static Quota left(String name, long permits, long capacity, long remaining) {
        return Quota.builder(name, name)
                .window(permits, Duration.ofSeconds(1))
                .capacity(capacity)
                .remaining(remaining)
                .build();
    }

    @Test
    void closestToExhaustionHasTheSmallestRemainingRatio() {
        Quota untouched = left("untouched", 100, 100, 100);
        Quota bucket = left("bucket", 10, 1_000, 30);
        Quota blocked = left("blocked", 0, 0, 0);
        Quota leaky = left("leaky", 100, 1, 1);
        assertThat(Quota.closestToExhaustion(List.of(untouched, bucket))).isEqualTo(bucket);
        assertThat(Quota.closestToExhaustion(List.of(bucket, blocked))).isEqualTo(blocked);
        assertThat(Quota.closestToExhaustion(List.of(left("half", 100, 100, 50), leaky))
                        .name())
                .isEqualTo("half");
        assertThat(Quota.closestToExhaustion(List.of(untouched, left("equal", 5, 5, 5))))
                .as("the first of equals")
                .isEqualTo(untouched);
    }
}
