// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import static io.weir.ratelimit.QuotaTest.allowed;
import static io.weir.ratelimit.QuotaTest.rejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DecisionTest {
    private static List<ChargeResult> results(Quota... quotas) {
        return Stream.of(quotas)
                .map(quota -> new ChargeResult(quota.policy(), false, List.of(quota)))
                .toList();
    }

    @Test
    void resultsOfAnAllowedCallAreNotReadBeforeTheyAreAsked() {
        AtomicInteger reads = new AtomicInteger();
        List<ChargeResult> deferred = new AbstractList<>() {
            @Override
            public ChargeResult get(int index) {
                reads.incrementAndGet();
                return results(allowed("api")).get(index);
            }

            @Override
            public int size() {
                return 1;
            }
        };
        Decision.Allowed allowed = new Decision.Allowed(deferred, Receipt.EMPTY);
        assertThat(allowed.allowed()).isTrue();
        assertThat(reads).hasValue(0);
        assertThat(allowed.quotas()).containsExactly(QuotaTest.allowed("api"));
        assertThat(allowed).isEqualTo(new Decision.Allowed(results(QuotaTest.allowed("api")), Receipt.EMPTY));
    }

    @Test
    void quotasAreThoseOfTheResultsInOrder() {
        Quota second = allowed("team");
        Quota shadow = rejected("trial", "trial", 9);
        Quota last = allowed("org");
        Decision allowed = new Decision.Allowed(
                List.of(
                        new ChargeResult("trial", true, List.of(shadow)),
                        new ChargeResult("team", false, List.of(second)),
                        new ChargeResult("test", true, List.of()),
                        new ChargeResult("org", false, List.of(last))),
                Receipt.EMPTY);
        assertThat(allowed.quotas()).containsExactly(second, last);
        assertThat(allowed.shadowQuotas()).containsExactly(shadow);
    }

    @Test
    void aDecisionThatLetsTheCallProceedIsReturned() {
        Decision open = new Decision.Degraded(FailureMode.OPEN, true, "timeout", Duration.ZERO);
        assertThat(open.orThrow()).isSameAs(open);
        assertThat(Decision.Allowed.UNLIMITED.orThrow()).isSameAs(Decision.Allowed.UNLIMITED);
    }

    @Test
    void aDecisionThatRejectsTheCallIsThrown() {
        Decision.Rejected rejected = new Decision.Rejected(results(rejected("api", "api", 5)));
        assertThatThrownBy(rejected::orThrow)
                .isInstanceOfSatisfying(
                        RateLimitExceededException.class,
                        thrown -> assertThat(thrown.decision()).isSameAs(rejected));
        Decision closed = new Decision.Degraded(FailureMode.CLOSED, false, "timeout", Duration.ofSeconds(3));
        assertThatThrownBy(closed::orThrow).isInstanceOfSatisfying(RateLimitUnavailableException.class, thrown -> {
            assertThat(thrown.reason()).isEqualTo("timeout");
            assertThat(thrown.retryAfter()).isEqualTo(Duration.ofSeconds(3));
        });
    }

    @Test
    void violatedPoliciesAreListedOnceInDeclaredOrder() {
        Decision.Rejected rejected = new Decision.Rejected(results(
                rejected("user", "user-1s", 1),
                rejected("user", "user-1h", 900),
                allowed("team"),
                rejected("address", "address", 5),
                rejected("user", "user-1d", 2)));
        assertThat(rejected.allowed()).isFalse();
        assertThat(rejected.violatedPolicies()).containsExactly("user", "address");
    }

    @Test
    void longestWaitOfTheRejectingLimitsDecides() {
        Quota longest = rejected("address", "address", 7_000_000);
        Decision.Rejected rejected = new Decision.Rejected(
                results(rejected("user", "user", 5), longest, rejected("team", "team", 7_000_000), allowed("org")));
        assertThat(rejected.decisiveQuota()).isSameAs(longest);
        assertThat(rejected.retryAfter()).contains(Duration.ofSeconds(7));
    }

    @Test
    void retryAfterIsEmptyIfALimitCanNeverAllowTheCost() {
        Decision.Rejected rejected =
                new Decision.Rejected(results(rejected("user", "user", 5), QuotaTest.rejectedForEver("org", "org")));
        assertThat(rejected.retryAfter()).isEmpty();
        assertThat(rejected.decisiveQuota().policy()).isEqualTo("org");
    }

    @Test
    void rejectionRequiresALimitThatRejected() {
        assertThatThrownBy(() -> new Decision.Rejected(results(allowed("api"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a rejection needs a limit that rejected the call");
        List<ChargeResult> shadow = List.of(new ChargeResult("trial", true, List.of(rejected("trial", "trial", 5))));
        assertThatThrownBy(() -> new Decision.Rejected(shadow)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Decision.Rejected(List.of())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void copiesItsResults() {
        List<ChargeResult> results = new ArrayList<>(results(rejected("api", "api", 1)));
        Decision rejected = new Decision.Rejected(results);
        results.clear();
        assertThat(rejected.quotas()).hasSize(1);
        List<Quota> quotas = new ArrayList<>(List.of(QuotaTest.allowed("api")));
        ChargeResult result = new ChargeResult("api", false, quotas);
        quotas.clear();
        assertThat(result.quotas()).hasSize(1);
    }

    @Test
    void unlimitedCallIsAllowedWithAnEmptyReceipt() {
        assertThat(Decision.Allowed.UNLIMITED.allowed()).isTrue();
        assertThat(Decision.Allowed.UNLIMITED.quotas()).isEmpty();
        assertThat(Decision.Allowed.UNLIMITED.receipt()).isSameAs(Receipt.EMPTY).hasToString("Receipt.EMPTY");
    }

    @Test
    void allowedCallHasAWait() {
        assertThat(new Decision.Allowed(List.of(), Receipt.EMPTY).waitMicros()).isZero();
        assertThat(new Decision.Allowed(List.of(), Receipt.EMPTY, 7).waitMicros())
                .isEqualTo(7);
        assertThatThrownBy(() -> new Decision.Allowed(List.of(), Receipt.EMPTY, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the wait must not be negative");
    }

    @Test
    void degradedDecisionHasNoQuotas() {
        Decision.Degraded degraded = new Decision.Degraded(FailureMode.CLOSED, false, "timeout");
        assertThat(degraded.allowed()).isFalse();
        assertThat(degraded.quotas()).isEmpty();
    }

    @Test
    void shadowQuotasHaveNoEffectOnADecision() {
        Quota full = rejected("trial", "trial", 9_000_000);
        Decision allowed = new Decision.Allowed(List.of(new ChargeResult("trial", true, List.of(full))), Receipt.EMPTY);
        assertThat(allowed.quotas()).isEmpty();
        assertThat(allowed.shadowQuotas()).containsExactly(full);
    }

    @Test
    void rejectedCallHasNoShadowQuotas() {
        assertThat(new Decision.Rejected(results(rejected("api", "api", 5))).shadowQuotas())
                .isEmpty();
    }

    @Test
    void shadowQuotasAreEmptyByDefault() {
        assertThat(new Decision.Allowed(results(allowed("api")), Receipt.EMPTY).shadowQuotas())
                .isEmpty();
        assertThat(new Decision.Degraded(FailureMode.OPEN, true, "timeout").shadowQuotas())
                .isEmpty();
    }
}
