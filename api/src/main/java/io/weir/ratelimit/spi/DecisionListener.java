// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.List;

/**
 * Hears of every decision, after it was taken and on the thread that took it. A CDI bean of this type takes part by being
 * there. What it throws is logged once and changes nothing; how long it takes, the caller waits. Decisions that it asks for itself
 * are taken, and told to no listener.
 */
@FunctionalInterface
public interface DecisionListener {
    /**
     * A decision was taken.
     *
     * @param event what was called, charged and decided
     */
    void onDecision(DecisionEvent event);

    /**
     * A call went on without a decision, because configuration lets its caller past all limits.
     *
     * @param endpoint what was called, as in {@link DecisionEvent}
     * @param policies the policies that would have decided, one or more, with their limits of callers without a tier
     */
    default void onBypass(String endpoint, List<PolicyLimits> policies) {}
}
