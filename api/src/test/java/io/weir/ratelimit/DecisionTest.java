// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import static io.weir.ratelimit.QuotaTest.admitted;
import static io.weir.ratelimit.QuotaTest.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DecisionTest {

    @Test
    void violatedPoliciesAreThoseThatRefusedInDeclaredOrderEachOnce() {
        Decision.Rejected rejected = new Decision.Rejected(List.of(
                refused("user", "user-1s", 1),
                refused("user", "user-1h", 900),
                admitted("team"),
                refused("address", "address", 5),
                refused("user", "user-1d", 2)));
        assertThat(rejected.allowed()).isFalse();
        assertThat(rejected.violatedPolicies()).containsExactly("user", "address");
    }

    @Test
    void theLongestWaitOfThoseThatRefusedDecides() {
        Quota longest = refused("address", "address", 7_000_000);
        Decision.Rejected rejected = new Decision.Rejected(
                List.of(refused("user", "user", 5), longest, refused("team", "team", 7_000_000), admitted("org")));
        assertThat(rejected.decisive()).isSameAs(longest);
        assertThat(rejected.retryAfter()).contains(Duration.ofSeconds(7));
    }

    @Test
    void noWaitHelpsIfOneOfTheLimitsCanNeverHoldTheCost() {
        Decision.Rejected rejected =
                new Decision.Rejected(List.of(refused("user", "user", 5), refused("org", "org", Quota.NEVER)));
        assertThat(rejected.retryAfter()).isEmpty();
        assertThat(rejected.decisive().policy()).isEqualTo("org");
    }

    @Test
    void aRejectionNeedsALimitThatRefused() {
        assertThatThrownBy(() -> new Decision.Rejected(List.of(admitted("api"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a rejection needs a limit that refused");
        assertThatThrownBy(() -> new Decision.Rejected(List.of())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aDecisionKeepsItsQuotasWhateverHappensToTheListItWasMadeOf() {
        List<Quota> quotas = new ArrayList<>(List.of(refused("api", "api", 1)));
        Decision allowed = new Decision.Allowed(quotas, Receipt.EMPTY);
        Decision rejected = new Decision.Rejected(quotas);
        quotas.clear();
        assertThat(allowed.quotas()).hasSize(1);
        assertThat(rejected.quotas()).hasSize(1);
    }

    @Test
    void aCallWithoutLimitsIsAllowedAndHasNothingToGiveBack() {
        assertThat(Decision.Allowed.UNLIMITED.allowed()).isTrue();
        assertThat(Decision.Allowed.UNLIMITED.quotas()).isEmpty();
        assertThat(Decision.Allowed.UNLIMITED.receipt()).isSameAs(Receipt.EMPTY).hasToString("Receipt.EMPTY");
    }

    @Test
    void anAdmittedCallKnowsHowFarAwayItsSlotWas() {
        assertThat(new Decision.Allowed(List.of(), Receipt.EMPTY).waitMicros()).isZero();
        assertThat(new Decision.Allowed(List.of(), Receipt.EMPTY, 7).waitMicros())
                .isEqualTo(7);
        assertThatThrownBy(() -> new Decision.Allowed(List.of(), Receipt.EMPTY, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the wait must not be negative");
    }

    @Test
    void aDegradedDecisionKnowsNoQuota() {
        Decision.Degraded degraded = new Decision.Degraded(FailureMode.CLOSED, false, "timeout");
        assertThat(degraded.allowed()).isFalse();
        assertThat(degraded.quotas()).isEmpty();
    }

    @Test
    void policiesInShadowModeHaveNoPartInADecision() {
        Quota full = refused("trial", "trial", 9_000_000);
        Decision allowed = new Decision.Allowed(List.of(), Receipt.EMPTY, 0, List.of(full));
        assertThat(allowed.quotas()).isEmpty();
        assertThat(allowed.shadow()).containsExactly(full);
        Decision.Rejected rejected = new Decision.Rejected(List.of(refused("api", "api", 5)), List.of(full));
        assertThat(rejected.violatedPolicies()).containsExactly("api");
        assertThat(rejected.decisive().policy()).isEqualTo("api");
        assertThat(rejected.retryAfter()).contains(Duration.ofNanos(5_000));
        assertThat(rejected.shadow()).containsExactly(full);
        assertThatThrownBy(() -> new Decision.Rejected(List.of(admitted("api")), List.of(full)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a rejection needs a limit that refused");
    }

    @Test
    void withoutPoliciesInShadowModeThereIsNothingOfThem() {
        assertThat(new Decision.Allowed(List.of(admitted("api")), Receipt.EMPTY).shadow())
                .isEmpty();
        assertThat(new Decision.Rejected(List.of(refused("api", "api", 5))).shadow())
                .isEmpty();
        assertThat(new Decision.Degraded(FailureMode.OPEN, true, "timeout").shadow())
                .isEmpty();
    }
}
