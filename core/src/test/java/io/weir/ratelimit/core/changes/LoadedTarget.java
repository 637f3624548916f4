// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.changes;

import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.LoadedPolicies;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A target whose policies come from the loader of deployments. */
final class LoadedTarget implements ChangeTarget {
    final Map<String, String> configuration = new HashMap<>();
    final List<String> calls = new ArrayList<>();
    Map<Overrides.Subject, Map<String, String>> overrides = Map.of();
    boolean available = true;
    private PolicyValues values = PolicyValues.NONE;

    private LoadedPolicies load(PolicyValues over, Problems problems) {
        return PolicyLoader.load(
                ChangedProperties.over(ConfigProperties.of(configuration), over, names()),
                List.of(),
                new Resolvers(new KeyTerms(32, 64), Map.of()),
                problems);
    }

    static List<ConfigurationProblem> problemsAtDeployment(Map<String, String> configuration) {
        LoadedTarget target = new LoadedTarget();
        target.configuration.putAll(configuration);
        return target.problems(PolicyValues.NONE);
    }

    @Override
    public Set<String> names() {
        return PolicyLoader.load(
                        ConfigProperties.of(configuration),
                        List.of(),
                        new Resolvers(new KeyTerms(32, 64), Map.of()),
                        new Problems())
                .policies()
                .keySet();
    }

    @Override
    public Optional<Policy> policy(String name) {
        return Optional.ofNullable(load(values, new Problems()).policies().get(name));
    }

    @Override
    public Map<String, String> values(String policy) {
        Map<String, String> all = new HashMap<>();
        for (Origin origin : load(values, new Problems()).origins().getOrDefault(policy, List.of())) {
            all.put(origin.attribute(), origin.value());
        }
        return all;
    }

    /** Returns the limits and the mode of a policy, and the source of the limits. */
    String inForce(String name) {
        LoadedPolicies loaded = load(values, new Problems());
        Policy policy = loaded.policies().get(name);
        String source = loaded.origins().get(name).stream()
                .filter(origin -> origin.attribute().equals("limit"))
                .map(Origin::source)
                .findFirst()
                .orElse("none");
        return policy.limits().limits().get(0).permits() + " " + policy.mode() + " by " + source;
    }

    @Override
    public List<ConfigurationProblem> problems(PolicyValues over) {
        Problems problems = new Problems();
        load(over, problems);
        return problems.found();
    }

    @Override
    public void apply(PolicyValues next) {
        calls.add("apply");
        values = next;
    }

    @Override
    public void override(Map<Overrides.Subject, Map<String, String>> next) {
        overrides = next;
    }

    @Override
    public void block(String policy, String storedKey, Duration length) {
        checkAvailable();
        calls.add("block " + policy + " " + storedKey + " " + length);
    }

    @Override
    public void unblock(String policy, String storedKey) {
        checkAvailable();
        calls.add("unblock " + policy + " " + storedKey);
    }

    private void checkAvailable() {
        if (!available) {
            throw new RateLimitUnavailableException("timeout");
        }
    }
}
