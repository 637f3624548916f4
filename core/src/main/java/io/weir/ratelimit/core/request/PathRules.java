// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import io.weir.ratelimit.core.policy.PathRule;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.RequestPath;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The policies that apply to requests by their path, in addition to those of annotations. */
public final class PathRules {
    public static final PathRules NONE = new PathRules(List.of());

    private final List<Policy> policies;

    /** Creates the path rules of policies. Policies without a path rule are ignored. */
    public PathRules(Collection<Policy> policies) {
        this.policies = policies.stream()
                .filter(policy -> policy.pathRule().isPresent())
                .sorted(Comparator.comparing(Policy::name))
                .toList();
    }

    public boolean isEmpty() {
        return policies.isEmpty();
    }

    /**
     * Returns the policies of a request: those of its method, with the costs of path rules, and those with a matching path rule, by name;
     * {@code own} itself if no path rule changes them. A policy with a cost of 0 for the path is omitted. The path is read only if there
     * are path rules.
     */
    public Binding join(Binding own, String method, Supplier<RequestPath> path) {
        if (policies.isEmpty() || own.equals(Binding.EXEMPT)) {
            return own;
        }
        RequestPath requested = path.get();
        List<Binding.PolicyCost> joined = new ArrayList<>(own.policies());
        String endpoint = own.endpoint();
        boolean applies = !own.endpoint().isEmpty();
        for (Policy policy : policies) {
            Optional<PathRule.Match> match = policy.pathRule().flatMap(rule -> rule.match(method, requested));
            if (match.isPresent()) {
                applies = true;
                endpoint = endpoint.isEmpty() ? match.get().path().toString() : endpoint;
                place(joined, policy, match.get().cost());
            }
        }
        if (!applies) {
            for (Policy policy : policies) {
                if (policy.pathRule().filter(rule -> rule.isDefaultFor(method)).isPresent()) {
                    endpoint = "default";
                    place(joined, policy, Optional.empty());
                }
            }
        }
        return joined.equals(own.policies()) ? own : new Binding(endpoint, joined);
    }

    private static void place(List<Binding.PolicyCost> joined, Policy policy, Optional<Long> cost) {
        int known = -1;
        for (int i = 0; i < joined.size(); i++) {
            known = joined.get(i).policy().name().equals(policy.name()) ? i : known;
        }
        long spent = cost.orElse(known >= 0 ? joined.get(known).cost() : policy.cost());
        if (known >= 0) {
            joined.remove(known);
        }
        if (spent > 0 && policy.rollout().mode() != Policy.Mode.OFF) {
            joined.add(known >= 0 ? known : joined.size(), new Binding.PolicyCost(policy, spent));
        }
    }
}
