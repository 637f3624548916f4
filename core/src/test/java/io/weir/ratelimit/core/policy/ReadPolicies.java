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

/** What reading a configuration and some rules gave. */
record ReadPolicies(Map<String, Policy> policies, Problems problems) {

    static ReadPolicies of(ConfigProperties config, MethodLimits... rules) {
        Problems problems = new Problems();
        Resolvers words = new Resolvers(new KeyTerms(32, 64), Map.of());
        return new ReadPolicies(
                PolicyLoader.load(config, List.of(rules), words, problems).policies(), problems);
    }

    static ReadPolicies of(String... lines) {
        return of(Configs.of(lines));
    }

    static MethodLimits naming(String endpoint, String... policies) {
        return new MethodLimits(endpoint, List.of(policies), 0, Optional.empty());
    }

    static MethodLimits inPlace(String endpoint, String policy, String limit, String key) {
        return inPlace(endpoint, "app." + endpoint + "()", policy, limit, key, Algorithm.SLIDING_WINDOW);
    }

    static MethodLimits inPlace(
            String endpoint, String place, String policy, String limit, String key, Algorithm algorithm) {
        InlinePolicy definition = new InlinePolicy(place, policy, limit, key, algorithm);
        return new MethodLimits(endpoint, List.of(policy), 0, Optional.of(definition));
    }

    Policy policy(String name) {
        if (!policies.containsKey(name)) {
            throw new AssertionError("no policy " + name + ": " + problems.message());
        }
        return policies.get(name);
    }

    /** The policy's limits as text. */
    String limits(String name) {
        return policy(name).limits().limits().toString();
    }

    List<ConfigurationProblem> found() {
        return problems.found();
    }

    /** The reported lines without the headline, each once. */
    List<String> lines() {
        return problems.message().lines().skip(1).map(String::strip).toList();
    }
}
