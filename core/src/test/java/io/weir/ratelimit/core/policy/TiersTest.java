// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
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

    @Tag("field")
    @Test
    void aTierInAnotherSpellingIsLoggedOnce() {
        try (LogCapture log = new LogCapture()) {
            Tiers tiers = new Tiers("plan", call -> call.header("plan"), Map.of("premium", PREMIUM));
            for (String other : List.of("premium", "free", "", "prem")) {
                tiers.of(TestCall.ofHeader("plan", other), OWN);
            }
            assertThat(log.lines()).isEmpty();
            for (String similar : List.of(" Premium ", "PREMIUM")) {
                assertThat(tiers.of(TestCall.ofHeader("plan", similar), OWN)).isSameAs(OWN);
            }
            assertThat(log.lines())
                    .containsExactly(
                            "WARNING WEIR-339 Policy plan: the tier of a caller is \"Premium\", which is no tier"
                                    + " of the policy, because upper and lower case and spaces matter. The limits of the policy"
                                    + " itself apply to such callers. Use premium. This is logged once.");
        }
    }

    @Test
    void theLimitsOfThePolicyApplyIfTheSelectorFails() {
        assertThat(limitsBy(call -> {
                    throw new IllegalStateException("the database is away");
                }))
                .isSameAs(OWN);
        assertThat(limitsBy(call -> {
                    throw new NoClassDefFoundError("com/example/Plan");
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
