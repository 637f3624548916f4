// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
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
}
