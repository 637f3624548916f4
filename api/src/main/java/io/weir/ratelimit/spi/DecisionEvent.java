// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

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
 * @param decision the decision. Its quotas are those of the charges that are not {@linkplain Charge#shadow() shadow charges}, in order.
 *     Its shadow quotas are those of the shadow charges, and some of them can be missing
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
        Charge charge = charges.get(index);
        List<Quota> all = charge.shadow() ? decision.shadowQuotas() : decision.quotas();
        int from = 0;
        for (int i = 0; i < index; i++) {
            Charge before = charges.get(i);
            from += before.shadow() == charge.shadow() ? count(before, all, from) : 0;
        }
        int count = count(charge, all, from);
        return count == all.size() ? all : all.subList(from, from + count);
    }

    private static int count(Charge charge, List<Quota> all, int from) {
        boolean known = from < all.size()
                && all.get(from).policy().equals(charge.policy().policy());
        return known ? charge.policy().limits().size() : 0;
    }
}
