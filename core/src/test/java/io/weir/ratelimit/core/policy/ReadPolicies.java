// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Configs;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The policies and the problems of a configuration and of annotated methods. */
record ReadPolicies(Map<String, Policy> policies, Problems problems) {

    static ReadPolicies of(ConfigProperties config, MethodLimits... methods) {
        Problems problems = new Problems();
        Resolvers resolvers = new Resolvers(new KeyTerms(32, 64), Map.of());
        return new ReadPolicies(
                PolicyLoader.load(config, List.of(methods), resolvers, problems).policies(), problems);
    }

    static ReadPolicies of(String... lines) {
        return of(Configs.of(lines));
    }

    static MethodLimits naming(String endpoint, String... policies) {
        return new MethodLimits(MethodLimits.Name.of(endpoint), List.of(policies), 0, Optional.empty());
    }

    static MethodLimits inline(String endpoint, String policy, String limit, String key) {
        return inline(endpoint, "app." + endpoint + "()", policy, limit, key, Algorithm.SLIDING_WINDOW);
    }

    static MethodLimits inline(
            String endpoint, String place, String policy, String limit, String key, Algorithm algorithm) {
        MethodLimits.InlinePolicy definition = new MethodLimits.InlinePolicy(place, policy, limit, key, algorithm);
        return new MethodLimits(MethodLimits.Name.of(endpoint), List.of(policy), 0, Optional.of(definition));
    }

    Policy policy(String name) {
        if (!policies.containsKey(name)) {
            throw new AssertionError("no policy " + name + ": " + problems.message());
        }
        return policies.get(name);
    }

    /** Returns the limits of a policy as text. */
    String limits(String name) {
        return policy(name).limits().limits().toString();
    }

    List<ConfigurationProblem> found() {
        return problems.found();
    }

    /** Returns the lines of the problems without the first line, each once. */
    List<String> lines() {
        return problems.message().lines().skip(1).map(String::strip).toList();
    }
}
