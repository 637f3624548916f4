// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Binds methods to the policies of one snapshot, also the late ones, whose classes were not beans at deployment. */
record MethodBinder(
        Map<String, Policy> policies,
        Map<String, Long> costs,
        ConfigProperties config,
        AnnotatedMethods.Scanner scanner,
        LateMethods late) {

    /**
     * Binds a method at its first call, to {@link Binding#NONE} if it is not limited. Throws an {@link IllegalStateException} if a policy
     * is invalid that could not be checked at deployment.
     */
    Binding bind(Class<?> beanClass, Method method) {
        Optional<MethodLimits> found = scanner.scan(beanClass, method);
        if (found.isEmpty()) {
            return scanner.isExempt(beanClass, method) ? Binding.EXEMPT : Binding.NONE;
        }
        MethodLimits limits = found.get();
        List<Binding.PolicyCost> policyCosts = new ArrayList<>();
        for (String name : limits.policies()) {
            Policy policy = policies.containsKey(name) ? policies.get(name) : latePolicy(limits, name);
            if (policy.rollout().mode() != Policy.Mode.OFF) {
                policyCosts.add(new Binding.PolicyCost(
                        policy, costs.getOrDefault(limits.endpoint(), limits.costUnder(policy))));
            }
        }
        return new Binding(limits.endpoint(), policyCosts);
    }

    private Policy latePolicy(MethodLimits limits, String name) {
        Problems problems = new Problems();
        return late.policy(limits, name, config, problems)
                .orElseThrow(() -> new IllegalStateException(MESSAGES.text("WEIR-204", limits.endpoint(), name) + "\n"
                        + String.join("\n", problems.lines())));
    }
}
