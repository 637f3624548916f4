// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.interceptor.policy.Policy;
import java.util.List;

/**
 * The policies that hold for one method, resolved at deployment.
 *
 * @param endpoint {@code Class.method}
 * @param policies the policies with the method's cost under each, in declared order
 */
public record Binding(String endpoint, List<Costed> policies) {
    /** Of a method that is not limited. */
    public static final Binding NONE = new Binding("", List.of());

    /**
     * A policy with what a call spends under it.
     *
     * @param policy the policy
     * @param cost permits, 1 or more
     */
    public record Costed(Policy policy, long cost) {}

    /** Copies the list. */
    public Binding {
        policies = List.copyOf(policies);
    }

    /**
     * Whether a call can only be decided where its arguments are known.
     *
     * @return true if a key uses an argument
     */
    public boolean needsArguments() {
        for (Costed costed : policies) {
            if (costed.policy().key().needsArguments()) {
                return true;
            }
        }
        return false;
    }
}
