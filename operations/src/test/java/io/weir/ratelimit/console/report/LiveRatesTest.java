// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.metrics.Outcome;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** The decisions of the last minute. */
class LiveRatesTest {
    private static final PolicyLimits API =
            new PolicyLimits("api", List.of(Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1))));

    private final ManualTime time = new ManualTime();
    private final LiveRates rates = new LiveRates(() -> time.micros() * 1_000);

    private void decide(long remaining, boolean rejected) {
        Quota quota = TestQuota.of("api", "api", 10, 10, Duration.ofMinutes(1), remaining, rejected, 0, 0, 0);
        Decision decision = rejected
                ? new Decision.Rejected(Results.of(quota))
                : new Decision.Allowed(Results.of(quota), Receipt.EMPTY);
        rates.decided(new DecisionEvent("Api.get", List.of(new Charge(API, "i.1", 1)), decision, 1));
    }

    private void seconds(long count) {
        time.advanceMicros(count * 1_000_000);
    }

    @Test
    void secondCountsAfterItsEndForOneMinute() {
        decide(9, false);
        assertThat(rates.of("api").counts()).isEmpty();
        seconds(1);
        assertThat(rates.of("api").counts()).isEqualTo(Map.of(Outcome.ALLOWED, 1L));
        assertThat(rates.of("api").decided().get(Rates.SECONDS - 1)).isOne();
        seconds(59);
        assertThat(rates.of("api").counts()).isEqualTo(Map.of(Outcome.ALLOWED, 1L));
        assertThat(rates.of("api").decided().get(0)).isOne();
        seconds(1);
        assertThat(rates.of("api").counts()).isEmpty();
    }

    @Test
    void olderSecondsDoNotCount() {
        decide(9, false);
        seconds(90);
        assertThat(rates.of("api").counts()).isEmpty();
    }

    @Test
    void recentCoversTenSeconds() {
        for (int i = 0; i < 30; i++) {
            decide(9, false);
            seconds(1);
        }
        assertThat(rates.of("api").recent()).isEqualTo(Map.of(Outcome.ALLOWED, 10L));
        assertThat(rates.of("api").counts()).isEqualTo(Map.of(Outcome.ALLOWED, 30L));
        seconds(10);
        assertThat(rates.of("api").recent()).isEmpty();
    }

    @Test
    void reusedCounterStartsAtZero() {
        for (int round = 0; round < 5; round++) {
            decide(9, false);
            seconds(64);
            decide(9, false);
            seconds(1);
            assertThat(rates.of("api").counts()).isEqualTo(Map.of(Outcome.ALLOWED, 1L));
            seconds(63);
        }
    }

    @Test
    void countsByOutcome() {
        decide(9, false);
        decide(0, true);
        rates.decided(new DecisionEvent(
                "Api.get",
                List.of(new Charge(API, "i.1", 1)),
                new Decision.Degraded(FailureMode.LOCAL, false, "timeout"),
                1));
        rates.decided(new DecisionEvent(
                "Api.get",
                List.of(new Charge(API, "i.1", 1)),
                new Decision.Degraded(FailureMode.OPEN, true, "timeout"),
                1));
        rates.bypassed(List.of(API));
        seconds(1);
        assertThat(rates.of("api").counts())
                .isEqualTo(Map.of(
                        Outcome.ALLOWED, 1L,
                        Outcome.REJECTED, 1L,
                        Outcome.DEGRADED_REJECTED, 1L,
                        Outcome.DEGRADED_ALLOWED, 1L,
                        Outcome.BYPASSED, 1L));
        assertThat(rates.of("api").rejected().stream()
                        .mapToLong(Long::longValue)
                        .sum())
                .isEqualTo(2);
        assertThat(rates.of("api").decided().stream().mapToLong(Long::longValue).sum())
                .isEqualTo(5);
    }

    @Test
    void utilizationIsMeanAndMaximum() {
        assertThat(rates.of("api").utilization()).isEmpty();
        decide(9, false);
        seconds(1);
        decide(3, false);
        seconds(1);
        assertThat(rates.of("api").utilization().orElseThrow().mean()).isCloseTo(0.4, Offset.offset(1e-9));
        assertThat(rates.of("api").utilization().orElseThrow().max()).isCloseTo(0.7, Offset.offset(1e-9));
    }

    @Test
    void aBlockIsNoUtilization() {
        LocalBackend backend = new LocalBackend(10, time);
        List<Charge> charges = List.of(new Charge(API, "i.1", 1));
        backend.block(API, "i.1", Duration.ofHours(1)).toCompletableFuture().join();
        rates.decided(new DecisionEvent("Api.get", charges, backend.acquire(charges), 1));
        seconds(1);
        assertThat(rates.of("api").counts()).isEqualTo(Map.of(Outcome.BLOCKED, 1L));
        assertThat(rates.of("api").utilization()).isEmpty();
    }

    @Test
    void removesOtherPolicies() {
        decide(9, false);
        seconds(1);
        rates.retain(List.of("other"));
        assertThat(rates.of("api").counts()).isEmpty();
    }

    @Test
    void countsAllDecisionsOfManyThreads() {
        IntStream.range(0, 20_000).parallel().forEach(i -> decide(9, i % 4 == 0));
        seconds(1);
        assertThat(rates.of("api").counts()).isEqualTo(Map.of(Outcome.ALLOWED, 15_000L, Outcome.REJECTED, 5_000L));
    }
}
