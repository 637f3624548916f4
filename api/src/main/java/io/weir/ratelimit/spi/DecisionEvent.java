// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import java.util.List;
import java.util.Objects;

/**
 * An event that reports one decision to a {@link DecisionListener}.
 *
 * @param endpoint the called endpoint: {@code Class.method}, or {@code RateLimiter} for calls of application code
 * @param charges the charges of the call, one or more, including shadow charges. Their stored keys can contain a name or an address and
 *     must not be shown
 * @param decision the decision. It has one result per charge, in order, or none
 * @param durationNanos how long the backend took for the decision or the failure, in nanoseconds, 0 or more
 */
public record DecisionEvent(String endpoint, List<Charge> charges, Decision decision, long durationNanos) {
    /** Copies the list and checks that no component is null. */
    public DecisionEvent {
        Objects.requireNonNull(endpoint, "endpoint");
        charges = List.copyOf(charges);
        Objects.requireNonNull(decision, "decision");
    }

    /**
     * Returns the quotas of a charge.
     *
     * @param index the position of the charge
     * @return one quota per limit; empty if the quotas of the charge are unknown
     */
    public List<Quota> quotasOf(int index) {
        List<ChargeResult> results = decision.results();
        return results.isEmpty() ? List.of() : results.get(index).quotas();
    }
}
