// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

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
