// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TiersTest {
    private static final PolicyLimits OWN = limits("none", 60);
    private static final PolicyLimits PREMIUM = limits("premium", 10_000);

    @Test
    void aCallerHasTheLimitsOfItsTier() {
        assertThat(limitsBy(call -> Optional.of("premium"))).isSameAs(PREMIUM);
    }

    @Test
    void aCallerWithoutAKnownTierHasTheLimitsOfThePolicy() {
        assertThat(limitsBy(call -> Optional.of("gold"))).isSameAs(OWN);
        assertThat(limitsBy(call -> Optional.empty())).isSameAs(OWN);
        assertThat(limitsBy(call -> Optional.of(""))).isSameAs(OWN);
    }

    @Test
    void theLimitsOfThePolicyApplyIfTheSelectorFails() {
        assertThat(limitsBy(call -> {
                    throw new IllegalStateException("the database is away");
                }))
                .isSameAs(OWN);
    }

    @Test
    void theSelectorIsNotCalledIfNoTierHasLimits() {
        assertThat(Tiers.NONE.of(CallContext.NONE, OWN)).isSameAs(OWN);
    }

    private static PolicyLimits limitsBy(TierSelector selector) {
        return new Tiers("plan", selector, Map.of("premium", PREMIUM)).of(CallContext.NONE, OWN);
    }

    private static PolicyLimits limits(String tier, long permits) {
        return new PolicyLimits(
                "plan", tier, List.of(Limit.of(Algorithm.SLIDING_WINDOW, permits, Duration.ofMinutes(1))));
    }
}
