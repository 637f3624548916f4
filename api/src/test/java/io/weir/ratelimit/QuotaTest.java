// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuotaTest {

    static Quota rejected(String policy, String name, long retryAfterMicros) {
        return new Quota(policy, name, 5, 5, Duration.ofMinutes(1), 0, true, retryAfterMicros, 60_000_000, 1);
    }

    static Quota allowed(String policy) {
        return new Quota(policy, policy, 5, 5, Duration.ofMinutes(1), 3, false, 0, 60_000_000, 1);
    }

    @Test
    void convertsWaitsExactly() {
        Quota quota = new Quota("api", "api", 5, 5, Duration.ofMinutes(1), 0, true, 30_600_001, 120_000_002, 7);
        assertThat(quota.retryAfter()).contains(Duration.ofSeconds(30, 600_001_000));
        assertThat(quota.resetAfter()).isEqualTo(Duration.ofSeconds(120, 2_000));
    }

    @Test
    void retryAfterIsZeroIfTheLimitDidNotReject() {
        assertThat(allowed("api").retryAfter()).contains(Duration.ZERO);
    }

    @Test
    void retryAfterIsEmptyIfNoWaitHelps() {
        assertThat(rejected("api", "api", Quota.NEVER).retryAfter()).isEmpty();
    }

    @Test
    void convertsWaitsOfYearsExactly() {
        long micros = Duration.ofDays(366).toMillis() * 2_000 + 1;
        assertThat(rejected("api", "api", micros).retryAfter())
                .contains(Duration.ofDays(732).plusNanos(1_000));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4})
    void rejectsNegativeComponents(int component) {
        long[] values = new long[5];
        values[component] = -1;
        assertThatThrownBy(() -> new Quota(
                        "api",
                        "api-1m",
                        values[0],
                        0,
                        Duration.ofMinutes(1),
                        values[1],
                        true,
                        values[2],
                        values[3],
                        values[4]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("api-1m");
    }

    private static Quota left(String name, long permits, long capacity, long remaining) {
        return new Quota(name, name, permits, capacity, Duration.ofSeconds(1), remaining, false, 0, 0, 0);
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
