// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Concurrency limits of policies, tiers and single keys. */
class ConcurrencyPoliciesTest {
    private static final String SLOW = "ratelimit.policies.slow.";
    private static final Duration DEFAULT = Duration.ofMinutes(1);
    private static final Limit WINDOW = Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofMinutes(1));

    private static Policy slow(String... attributes) {
        ReadPolicies read = read(attributes);
        assertThat(read.lines()).isEmpty();
        return read.policy("slow");
    }

    private static ReadPolicies read(String... attributes) {
        String[] lines = new String[attributes.length];
        for (int i = 0; i < lines.length; i++) {
            lines[i] = SLOW + attributes[i];
        }
        return ReadPolicies.of(lines);
    }

    @Test
    void concurrencyAloneIsAPolicy() {
        PolicyLimits limits = slow("concurrency=2").limits();
        assertThat(limits.limits()).containsExactly(Limit.concurrency(2, DEFAULT));
        assertThat(limits.limitName(0)).isEqualTo("slow");
        assertThat(limits.hasConcurrency()).isTrue();
        assertThat(limits.withoutConcurrency()).isEmpty();
    }

    @Test
    void anInvalidConcurrencyIsTheOnlyProblem() {
        assertThat(read("concurrency=-1").lines()).singleElement().asString().startsWith("WEIR-102 ");
    }

    @Test
    void concurrencyIsTheLastLimitOfAPolicy() {
        Policy policy = slow("limit=100/1m", "concurrency=2", "concurrency-timeout=10s", "cost=50", "max-wait=1s");
        PolicyLimits limits = policy.limits();
        assertThat(limits.limits())
                .containsExactly(
                        WINDOW.withMaxWait(Duration.ofSeconds(1)),
                        Limit.concurrency(2, Duration.ofSeconds(10)).withMaxWait(Duration.ofSeconds(1)));
        assertThat(limits.limitName(1)).isEqualTo("slow-concurrent");
        assertThat(limits.toString()).contains("2 concurrent");
        PolicyLimits rest = limits.withoutConcurrency().orElseThrow();
        assertThat(rest.limits()).containsExactly(WINDOW.withMaxWait(Duration.ofSeconds(1)));
        assertThat(rest.limitName(0)).isEqualTo("slow-1m");
    }

    @Test
    void aTierHasItsOwnConcurrencyOrThatOfThePolicy() {
        Policy policy = slow(
                "limit=100/1m",
                "concurrency=2",
                "tier=header:X-Plan",
                "tiers.gold.limit=100/1m",
                "tiers.gold.concurrency=20",
                "tiers.free.limit=100/1m");
        assertThat(policy.tiers().limits().get("gold").limits())
                .containsExactly(WINDOW, Limit.concurrency(20, DEFAULT));
        assertThat(policy.tiers().limits().get("free").limits()).containsExactly(WINDOW, Limit.concurrency(2, DEFAULT));

        Policy alone = slow("concurrency=2", "tier=header:X-Plan", "tiers.gold.concurrency=0");
        assertThat(alone.tiers().limits().get("gold").limits()).containsExactly(Limit.concurrency(0, DEFAULT));
    }

    @Test
    void theLimitOfATierHasTheAlgorithmAndTheThresholdsOfAPolicyWithoutALimit() {
        Policy policy = slow(
                "concurrency=2",
                "algorithm=token-bucket",
                "notify-at=80%",
                "tier=header:X-Plan",
                "tiers.free.limit=10/1m",
                "tiers.free.burst=20");
        assertThat(policy.tiers().limits().get("free").toString())
                .contains("10/1m token-bucket burst 20", "2 concurrent");
        assertThat(policy.notifyAt()).containsExactly(80);
        assertThat(read("concurrency=2", "burst=5", "tier=header:X-Plan", "tiers.free.limit=10/1m")
                        .lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-133 ratelimit.policies.slow.burst");
        assertThat(slow("concurrency=2", "algorithm=sliding-window").limits().limits())
                .containsExactly(Limit.concurrency(2, DEFAULT));
    }

    @Test
    void aKeyHasItsOwnConcurrencyOrThatOfThePolicy() {
        Policy policy = slow("limit=10/1m", "concurrency=2");
        LimitOverride override = LimitOverride.of("100/1m");
        assertThat(limits(policy, override)).containsExactly(WINDOW, Limit.concurrency(2, DEFAULT));
        assertThat(limits(policy, override.withConcurrency(7))).containsExactly(WINDOW, Limit.concurrency(7, DEFAULT));
        assertThatThrownBy(() -> override.withConcurrency(3_001)).isInstanceOf(IllegalArgumentException.class);
    }

    private static Iterable<Limit> limits(Policy policy, LimitOverride override) {
        return OverrideAnswer.NONE
                .next(Optional.of(override), policy, OverrideSources.NONE)
                .limits()
                .orElseThrow()
                .limits();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "concurrency=3001          | WEIR-102",
                "concurrency=-1            | WEIR-102",
                "concurrency=two           | WEIR-102",
                "concurrency-timeout=999ms | WEIR-102",
                "concurrency-timeout=2d    | WEIR-102",
                "burst=5                   | WEIR-133",
                "algorithm=token-bucket    | WEIR-133",
                "notify-at=80%             | WEIR-133",
                "lease=5                   | WEIR-128"
            })
    void reportsAWrongAttribute(String attribute, String number) {
        String[] attributes = attribute.startsWith("concurrency=")
                ? new String[] {"limit=10/1m", attribute}
                : new String[] {"concurrency=2", attribute};
        assertThat(read(attributes).lines()).singleElement().asString().startsWith(number);
    }

    @Test
    void reportsALeaseOfATierWithConcurrency() {
        assertThat(read(
                                "limit=100/1m",
                                "lease=5",
                                "tier=header:X-Plan",
                                "tiers.gold.limit=100/1m",
                                "tiers.gold.concurrency=2")
                        .lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-128 ratelimit.policies.slow.tiers.gold.concurrency");
    }
}
