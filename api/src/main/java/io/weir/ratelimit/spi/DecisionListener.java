// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
import java.util.List;

/**
 * A listener for decisions. Every CDI bean of this type is a listener.
 *
 * <p>A listener is called after each decision, on the thread that took it; the caller waits for the listener. An exception is logged once
 * and has no effect. Decisions that a listener itself requests are taken, but not reported to any listener.
 */
@FunctionalInterface
public interface DecisionListener {
    /**
     * Reports a decision.
     *
     * @param event the endpoint, the charges and the decision
     */
    void onDecision(DecisionEvent event);

    /**
     * Tests whether this listener needs a decision. If no listener needs a decision, no event is created. Before a decision, it is asked
     * with {@link Decision.Allowed#UNLIMITED} for all allowed decisions without policies in shadow mode. If no listener needs these, the
     * duration of other decisions can be 0, because it is not measured.
     *
     * @param decision the decision
     * @return false if {@link #onDecision} would have no effect. The event can arrive nevertheless, because another listener needs it
     */
    default boolean needs(Decision decision) {
        return true;
    }

    /**
     * Reports a call that bypassed all limits by configuration.
     *
     * @param endpoint the called endpoint, as in {@link DecisionEvent}
     * @param policies the policies that apply to the endpoint, one or more, with their limits for callers without a tier
     */
    default void onBypass(String endpoint, List<PolicyLimits> policies) {}

    /**
     * Reports charges whose cost was replaced by the actual cost.
     *
     * @param charges the charges, one or more, with the cost that was reserved
     * @param actualCost the actual cost in permits, 0 or more
     */
    default void onSettle(List<Charge> charges, long actualCost) {}
}
