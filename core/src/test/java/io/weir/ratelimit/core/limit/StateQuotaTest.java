// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The quotas that states show. */
class StateQuotaTest {
    private final Limit second = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofSeconds(1));

    @Test
    void containsTheLimitAndTheRemainingPermits() {
        LimitState full = LimitState.untouched(second, 5).spend(second, 10, 5);
        assertThat(full.quota(charge(1), 0, true, 5))
                .isEqualTo(
                        TestQuota.of("api", "api", 10, 10, Duration.ofSeconds(1), 0, false, 0, 2_000_000, 1_100_000));
        assertThat(full.quota(charge(2), 0, false, 5))
                .isEqualTo(TestQuota.of(
                        "api", "api", 10, 10, Duration.ofSeconds(1), 0, true, 1_200_000, 2_000_000, 1_100_000));
    }

    @Test
    void retryAfterEndsWhenTheSlotIsWithinTheMaxWait() {
        Limit bucket =
                Limit.of(Algorithm.LEAKY_BUCKET, 10, Duration.ofSeconds(1)).withMaxWait(Duration.ofMillis(250));
        PolicyLimits policy = new PolicyLimits("api", List.of(bucket));
        LimitState queued = LimitState.untouched(bucket, 5).spend(bucket, 1, 5).spend(bucket, 1, 5);
        assertThat(queued.quota(new Charge(policy, "all", 1, 200_000), 0, false, 5))
                .extracting(Quota::rejected, Micros::retryAfter)
                .containsExactly(false, 0L);
        assertThat(queued.quota(new Charge(policy, "all", 1, 150_000), 0, false, 5))
                .extracting(Quota::rejected, Micros::retryAfter)
                .containsExactly(true, 50_000L);
        assertThat(queued.quota(new Charge(policy, "all", 2, 200_000), 0, false, 5))
                .extracting(Quota::rejected, Micros::retryAfter)
                .containsExactly(true, Micros.NEVER);
    }

    private Charge charge(long cost) {
        return new Charge(new PolicyLimits("api", List.of(second)), "all", cost);
    }
}
