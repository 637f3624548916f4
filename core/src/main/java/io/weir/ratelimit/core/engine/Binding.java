// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.policy.Policy;
import java.util.List;

/**
 * The policies that hold for one method, or for one request of it.
 *
 * @param endpoint {@code Class.method}; of a method that only path rules limit, the path of the first
 * @param policies the policies with the method's cost under each, in declared order
 */
public record Binding(String endpoint, List<PolicyCost> policies) {
    /** Of a method that no annotation limits. */
    public static final Binding NONE = new Binding("", List.of());

    /** Of a method that no rule limits either. */
    public static final Binding EXEMPT = new Binding("exempt", List.of());

    /**
     * A policy with what a call spends under it.
     *
     * @param policy the policy
     * @param cost permits, 1 or more
     */
    public record PolicyCost(Policy policy, long cost) {}

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
        for (PolicyCost costed : policies) {
            if (costed.policy().key().needsArguments()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the outcome of a call decides about its charges.
     *
     * @return true if a policy counts only some outcomes
     */
    public boolean countsOutcomes() {
        for (PolicyCost costed : policies) {
            if (costed.policy().count() != Policy.Count.ALWAYS) {
                return true;
            }
        }
        return false;
    }

    /** Whether a client must not be told any quota. A policy in shadow mode changes nothing about answers. */
    boolean isMinimal() {
        for (PolicyCost costed : policies) {
            if (costed.policy().disclosure() == Policy.Disclosure.MINIMAL
                    && costed.policy().mode() == Policy.Mode.ENFORCE) {
                return true;
            }
        }
        return false;
    }

    /** What the policy of that name does when the store does not answer. */
    FailureMode onFailure(String policy) {
        for (PolicyCost costed : policies) {
            if (costed.policy().name().equals(policy)) {
                return costed.policy().onFailure();
            }
        }
        return FailureMode.OPEN;
    }

    /** Whether a charge under a policy stays when a call has ended. */
    boolean counts(String policy, boolean succeeded) {
        return policies.stream()
                .filter(costed -> costed.policy().name().equals(policy))
                .allMatch(costed -> costed.policy().count().counts(succeeded));
    }
}
