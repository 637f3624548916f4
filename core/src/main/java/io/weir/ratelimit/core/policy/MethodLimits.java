// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import java.util.List;
import java.util.Optional;

/**
 * The limits that the annotations of one method define, or those of a REST client.
 *
 * @param name the name of the method in configuration and metrics; {@code client:<name>} for a client
 * @param policies the names of its policies in order, one or more
 * @param cost the permits that a call spends, 0 for the cost of each policy
 * @param inlinePolicy the policy that the annotation itself defines, if any
 */
public record MethodLimits(MethodName name, List<String> policies, long cost, Optional<InlinePolicy> inlinePolicy) {
    /** The beginning of the endpoints of REST clients. No method and no path begins so. */
    public static final String CLIENT = "client:";

    /** Copies the list. */
    public MethodLimits {
        policies = List.copyOf(policies);
    }

    /** Returns the name of the method in metrics and messages. */
    public String endpoint() {
        return name.text();
    }

    /**
     * Tests whether these are the limits of a REST client.
     *
     * @return true for a client, false for a method
     */
    public boolean isClient() {
        return endpoint().startsWith(CLIENT);
    }

    /**
     * Tests whether the method is under a policy.
     *
     * @return true if the annotations name it
     */
    public boolean isUnder(String policy) {
        return policies.contains(policy);
    }

    /**
     * Returns the cost of a call under a policy, without {@code ratelimit.costs}.
     *
     * @return the cost of the annotation, otherwise that of the policy
     */
    public long costUnder(Policy policy) {
        return cost > 0 ? cost : policy.cost();
    }
}
