// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.TopKeys;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The calls of the last minute, from counts of a longer time. */
class MinuteCountsTest {
    private final AtomicLong nanos = new AtomicLong(-3_000_000_000L);
    private final MinuteCounts counts = new MinuteCounts(nanos::get);
    private long startNanos = nanos.get() - Duration.ofMinutes(7).toNanos();

    private InstanceReport.PolicyKeys keys(TopKeys.Entry... active) {
        return new InstanceReport.PolicyKeys(
                "hello",
                new TopKeys(List.of(), List.of(active), List.of(), Duration.ofNanos(nanos.get() - startNanos)),
                0,
                12,
                InstanceReport.Minute.NONE);
    }

    private static TopKeys.Entry entry(String key, long min, long max) {
        return new TopKeys.Entry(key, min, max, 0);
    }

    private void pass(int seconds) {
        nanos.addAndGet(Duration.ofSeconds(seconds).toNanos());
    }

    @Test
    void isTheLeastDifferenceToTheCountsOfAMinuteAgo() {
        counts.record(List.of(keys(entry("i.a", 90, 100))));
        pass(60);
        InstanceReport.Minute minute = counts.with(
                        keys(entry("i.a", 150, 160), entry("i.b", 40, 45), entry("i.c", 5, 5)))
                .minute();
        assertThat(minute.period()).isEqualTo(Duration.ofMinutes(1));
        // Key b had at most 12 calls, as each key without a place in the list.
        assertThat(minute.calls()).isEqualTo(Map.of("i.a", 50L, "i.b", 28L, "i.c", 0L));
    }

    @Test
    void isUnknownWithoutCountsOfHalfAMinuteAgo() {
        assertThat(counts.with(keys(entry("i.a", 9, 9))).minute()).isEqualTo(InstanceReport.Minute.NONE);
        counts.record(List.of(keys(entry("i.a", 9, 9))));
        pass(29);
        assertThat(counts.with(keys(entry("i.a", 9, 9))).minute()).isEqualTo(InstanceReport.Minute.NONE);
        pass(1);
        assertThat(counts.with(keys(entry("i.a", 9, 9))).minute().period()).isEqualTo(Duration.ofSeconds(30));
        pass(36);
        assertThat(counts.with(keys(entry("i.a", 9, 9))).minute()).isEqualTo(InstanceReport.Minute.NONE);
    }

    @Test
    void countsFromAnotherStartAreNotCompared() {
        counts.record(List.of(keys(entry("i.a", 90, 90))));
        pass(40);
        startNanos += Duration.ofMinutes(5).toNanos();
        assertThat(counts.with(keys(entry("i.a", 95, 95))).minute()).isEqualTo(InstanceReport.Minute.NONE);
    }

    @Test
    void aPolicyThatIsYoungerThanAMinuteHasAllItsCalls() {
        startNanos = nanos.get() - Duration.ofSeconds(20).toNanos();
        assertThat(counts.with(keys(entry("i.a", 9, 10))).minute())
                .isEqualTo(new InstanceReport.Minute(Duration.ofSeconds(20), Map.of("i.a", 9L)));
    }

    @Test
    void itIsBetweenHalfAMinuteAndAMinuteForFrequentReports() {
        for (int second = 0; second < 200; second++) {
            counts.record(List.of(keys(entry("i.a", second, second))));
            InstanceReport.Minute minute =
                    counts.with(keys(entry("i.a", second, second))).minute();
            if (second >= 60) {
                assertThat(minute.period()).isBetween(Duration.ofSeconds(45), Duration.ofSeconds(65));
                assertThat(minute.calls()).containsEntry("i.a", minute.period().toSeconds());
            }
            pass(1);
        }
    }

    @Test
    void countsOfAHundredPoliciesAreKept() {
        List<InstanceReport.PolicyKeys> all = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            InstanceReport.PolicyKeys hello = keys(entry("i.a", 9, 9));
            all.add(new InstanceReport.PolicyKeys("policy-" + i, hello.top(), 0, 0, hello.minute()));
        }
        counts.record(all);
        pass(50);
        InstanceReport.PolicyKeys later = keys(entry("i.a", 10, 10));
        assertThat(all.stream()
                        .map(one -> counts.with(
                                new InstanceReport.PolicyKeys(one.policy(), later.top(), 0, 0, later.minute())))
                        .filter(one -> !one.minute().equals(InstanceReport.Minute.NONE)))
                .hasSize(MinuteCounts.MAX_POLICIES);
    }
}
