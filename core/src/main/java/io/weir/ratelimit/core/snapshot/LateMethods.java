// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The methods of classes that were not beans at deployment, with the last valid policies that only they define. */
final class LateMethods {
    private final Resolvers resolvers;
    private final Map<MethodLimits, Map<String, Policy>> policies = new ConcurrentHashMap<>();

    LateMethods(Resolvers resolvers) {
        this.resolvers = resolvers;
    }

    /** Returns the methods that were called so far. */
    Set<MethodLimits> methods() {
        return policies.keySet();
    }

    /** Returns the last valid policies by name. */
    Map<String, Policy> policies() {
        Map<String, Policy> all = new HashMap<>();
        policies.values().forEach(all::putAll);
        return all;
    }

    /** Loads a policy that no other place defines. If it is invalid now, the last valid one stays in force. */
    Optional<Policy> policy(MethodLimits method, String name, ConfigProperties config, Problems problems) {
        Policy loaded = PolicyLoader.load(config, List.of(method), resolvers, problems)
                .policies()
                .get(name);
        Map<String, Policy> valid = policies.computeIfAbsent(method, first -> new ConcurrentHashMap<>());
        return Optional.ofNullable(loaded == null ? valid.get(name) : valid.computeIfAbsent(name, first -> loaded));
    }
}
