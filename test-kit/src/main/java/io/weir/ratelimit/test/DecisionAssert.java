// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/** An assertion about a decision. */
public final class DecisionAssert extends AbstractAssert<DecisionAssert, Decision> {
    DecisionAssert(@Nullable Decision actual) {
        super(actual, DecisionAssert.class);
    }

    /**
     * Verifies that the call may proceed, by permits or by a failure mode.
     *
     * @return this assertion
     */
    public DecisionAssert isAllowed() {
        isNotNull();
        if (!actual.allowed()) {
            failWithMessage("expected an allowed call but was %s", actual);
        }
        return this;
    }

    /**
     * Verifies that the call was allowed after a wait.
     *
     * @param wait the wait
     * @return this assertion
     */
    public DecisionAssert isAllowedAfter(Duration wait) {
        isAllowed();
        Duration waited = actual instanceof Decision.Allowed allowed
                ? Duration.ofNanos(allowed.waitMicros() * 1_000)
                : Duration.ZERO;
        if (!waited.equals(wait)) {
            failWithMessage("expected a wait of %s but was %s", wait, waited);
        }
        return this;
    }

    /**
     * Verifies that a limit rejects the call, not a failure mode.
     *
     * @return this assertion
     */
    public DecisionAssert isRejected() {
        rejected();
        return this;
    }

    /**
     * Verifies that exactly these policies reject the call.
     *
     * @param policies the names of the policies in declared order
     * @return this assertion
     */
    public DecisionAssert isRejectedBy(String... policies) {
        List<String> violated = rejected().violatedPolicies();
        if (!violated.equals(List.of(policies))) {
            failWithMessage("expected a rejection by %s but was by %s", List.of(policies), violated);
        }
        return this;
    }

    /**
     * Verifies the time after which a retry is allowed or can succeed.
     *
     * @param expected the time; zero for a call that failed while the time is unknown
     * @return this assertion
     */
    public DecisionAssert retryAfter(Duration expected) {
        Duration time = actual instanceof Decision.Degraded degraded
                ? degraded.retryAfter()
                : rejected().retryAfter().orElse(null);
        if (!expected.equals(time)) {
            failWithMessage("expected a retry after %s but was after %s", expected, time == null ? "no time" : time);
        }
        return this;
    }

    /**
     * Verifies that no wait helps, because the cost exceeds the capacity of a limit.
     *
     * @return this assertion
     */
    public DecisionAssert neverAllowsRetry() {
        rejected().retryAfter().ifPresent(time -> failWithMessage("expected no retry but was after %s", time));
        return this;
    }

    /**
     * Verifies that a failure mode took the decision, because the backend was unavailable.
     *
     * @param mode the failure mode
     * @return this assertion
     */
    public DecisionAssert isDegraded(FailureMode mode) {
        isNotNull();
        if (!(actual instanceof Decision.Degraded degraded) || degraded.mode() != mode) {
            failWithMessage("expected a decision of the failure mode %s but was %s", mode, actual);
        }
        return this;
    }

    /**
     * Verifies why the backend was unavailable.
     *
     * @param reason the reason, such as {@code timeout}
     * @return this assertion
     */
    public DecisionAssert hasReason(String reason) {
        isNotNull();
        if (!(actual instanceof Decision.Degraded degraded)
                || !degraded.reason().equals(reason)) {
            failWithMessage("expected a decision because of %s but was %s", reason, actual);
        }
        return this;
    }

    /**
     * Verifies the remaining permits of a limit after the decision.
     *
     * @param limit the name of the limit, which is that of the policy if the policy has one limit
     * @param remaining the remaining permits
     * @return this assertion
     */
    public DecisionAssert hasQuota(String limit, long remaining) {
        isNotNull();
        Quota quota = actual.quotas().stream()
                .filter(each -> each.name().equals(limit))
                .findFirst()
                .orElse(null);
        if (quota == null || quota.remaining() != remaining) {
            failWithMessage(
                    "expected %s remaining permits of %s but was %s",
                    remaining, limit, quota == null ? actual.quotas() : quota.remaining());
        }
        return this;
    }

    private Decision.Rejected rejected() {
        isNotNull();
        if (!(actual instanceof Decision.Rejected)) {
            failWithMessage("expected a rejected call but was %s", actual);
        }
        return (Decision.Rejected) actual;
    }
}
