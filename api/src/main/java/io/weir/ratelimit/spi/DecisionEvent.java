// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import java.util.List;
import java.util.Objects;

/**
 * What a {@link DecisionListener} hears of one decision.
 *
 * @param endpoint what was called: {@code Class.method}, or {@code RateLimiter} for code
 * @param charges what the call would spend, one or more, shadow charges among them; identities are in their stored form, which can hold a name or an
 *     address, and must not be shown
 * @param decision the decision; its quotas, if it has any, are those of the charges that are not {@linkplain Charge#shadow()
 *     shadow}, in order, and its shadow quotas those of the charges that are, of which some can be missing
 * @param nanos how long the store took to decide or to fail, in nanoseconds, 0 or more
 */
public record DecisionEvent(String endpoint, List<Charge> charges, Decision decision, long nanos) {
    /** Copies the list. */
    public DecisionEvent {
        Objects.requireNonNull(endpoint, "endpoint");
        charges = List.copyOf(charges);
        Objects.requireNonNull(decision, "decision");
    }

    /**
     * What the limits of a charge said.
     *
     * @param index the charge's position
     * @return one quota per limit, none if nothing is known about the charge
     */
    public List<Quota> quotasOf(int index) {
        Charge asked = charges.get(index);
        List<Quota> all = asked.shadow() ? decision.shadow() : decision.quotas();
        int from = 0;
        for (int i = 0; i < index; i++) {
            Charge before = charges.get(i);
            from += before.shadow() == asked.shadow() ? count(before, all, from) : 0;
        }
        int count = count(asked, all, from);
        return count == all.size() ? all : all.subList(from, from + count);
    }

    private static int count(Charge charge, List<Quota> all, int from) {
        boolean known = from < all.size()
                && all.get(from).policy().equals(charge.policy().policy());
        return known ? charge.policy().limits().size() : 0;
    }
}
