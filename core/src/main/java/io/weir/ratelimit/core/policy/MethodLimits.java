// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.Algorithm;
import java.util.List;
import java.util.Optional;

/**
 * The limits that the annotations of one method define, or those of a REST client.
 *
 * @param name the name of the method in configuration and metrics; {@code client:<name>} for a client
 * @param policies the names of its policies in order, one or more
 * @param cost the permits that a call spends, 0 for the cost of each policy
 */
public record MethodLimits(Name name, List<String> policies, long cost, Optional<InlinePolicy> inlinePolicy) {
    /** The beginning of the endpoints of REST clients. No method and no path begins so. */
    public static final String CLIENT = "client:";

    public MethodLimits {
        policies = List.copyOf(policies);
    }

    /** Returns the name of the method in metrics and messages. */
    public String endpoint() {
        return name.text();
    }

    public boolean isClient() {
        return endpoint().startsWith(CLIENT);
    }

    public boolean isUnder(String policy) {
        return policies.contains(policy);
    }

    /** Returns the cost of a call under a policy: that of the annotation, otherwise that of the policy, without {@code ratelimit.costs}. */
    public long costUnder(Policy policy) {
        return cost > 0 ? cost : policy.cost();
    }

    /**
     * A policy that an annotation at a place, a method or a class, defines. The configuration overrides each attribute. The limit and the
     * key are empty if the annotation has none.
     */
    public record InlinePolicy(String place, String policy, String limit, String key, Algorithm algorithm) {

        /** Tests whether another annotation defines the same limits, key and algorithm. */
        boolean hasSameAttributesAs(InlinePolicy other) {
            return limit.equals(other.limit) && key.equals(other.key) && algorithm == other.algorithm;
        }
    }

    /**
     * The name of a limited method.
     *
     * @param text the name in keys, metrics and messages: the first form that no other limited method has
     * @param forms all names of the method in the configuration of costs, from {@code Class.method} to the one with package and parameters
     */
    public record Name(String text, List<String> forms) {
        public Name {
            forms = List.copyOf(forms);
        }

        /** Creates a name with one form. */
        public static Name of(String text) {
            return new Name(text, List.of(text));
        }

        /** Returns the form {@code Class.method}. */
        public String simple() {
            return forms.get(0);
        }

        /** Returns the form with the package and the types of the parameters, which names no other method. */
        public String full() {
            return forms.get(forms.size() - 1);
        }

        /** Tests whether the name has a package, because another method has the same simple name. */
        public boolean isQualified() {
            return !text.equals(simple());
        }
    }
}
