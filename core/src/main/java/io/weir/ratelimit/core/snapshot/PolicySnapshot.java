// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.policy.Bypass;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.RequestPath;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.PathRules;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The policies of one state of the configuration. A changed configuration replaces the whole snapshot.
 *
 * @param paths the policies with a path rule that apply to matched requests
 * @param early the policies with a path rule that apply before a request is matched
 * @param invalid the problems of the policies that have some, whose previous values apply, by name
 */
public record PolicySnapshot(
        Map<String, Policy> policies,
        Map<String, Long> costs,
        PathRules paths,
        PathRules early,
        MethodBindings bindings,
        Bypass bypass,
        Map<String, List<Origin>> origins,
        Map<String, List<ConfigurationProblem>> invalid) {
    public PolicySnapshot {
        policies = Map.copyOf(policies);
        costs = Map.copyOf(costs);
        origins = Map.copyOf(origins);
        invalid = Map.copyOf(invalid);
    }

    public Optional<Policy> policy(String name) {
        return Optional.ofNullable(policies.get(name));
    }

    /** Tests whether a policy exists, also one that only a method of a class defines that was no bean at deployment. */
    public boolean has(String policy) {
        return policies.containsKey(policy) || bindings.have(policy);
    }

    /** Returns the origins of a policy, empty if the policy does not exist. */
    public List<Origin> origins(String policy) {
        return origins.getOrDefault(policy, List.of());
    }

    /** Returns the policies of an operation: the early ones, those of its method and those of its path. */
    public List<Binding.PolicyCost> policies(Binding method, String httpMethod, String path) {
        RequestPath requested = RequestPath.of(path);
        List<Binding.PolicyCost> all = new ArrayList<>(
                early.join(Binding.NONE, httpMethod, () -> requested).policies());
        all.addAll(paths.join(method, httpMethod, () -> requested).policies());
        return all;
    }

    public List<String> withSlots() {
        return policies.values().stream()
                .filter(Policy::hasConcurrency)
                .map(Policy::name)
                .toList();
    }

    /** Returns a snapshot with the same policies that limits no call. */
    public PolicySnapshot disabled() {
        return new PolicySnapshot(
                policies,
                costs,
                PathRules.NONE,
                PathRules.NONE,
                new MethodBindings((beanClass, method) -> Binding.NONE, beanClass -> false),
                Bypass.NONE,
                origins,
                invalid);
    }
}
