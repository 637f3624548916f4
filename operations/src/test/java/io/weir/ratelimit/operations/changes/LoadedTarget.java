// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.LoadedPolicies;
import io.weir.ratelimit.core.policy.OverrideReader;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.snapshot.ValueLayer.Findings;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
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

    /** Why the backend is not available. */
    String reason = "timeout";

    /** Whether the backend of this instance has concurrency limits. */
    boolean concurrency = true;

    /** The most permits that one key can have under a policy that is enforced. */
    long maxOverride = Long.MAX_VALUE;

    /** The names of the policies; empty for those of the configuration. */
    Set<String> names = Set.of();

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
        return target.check(PolicyValues.NONE, List.of()).all();
    }

    @Override
    public Set<String> names() {
        return !names.isEmpty()
                ? names
                : PolicyLoader.load(
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

    /** Returns the problems of the configuration with the values in force. */
    List<ConfigurationProblem> problems() {
        return check(values, List.of()).all();
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
        return policy.limits().limits().get(0).permits() + " "
                + policy.rollout().mode() + " by " + source;
    }

    @Override
    public Findings check(PolicyValues over, Collection<RuntimeChange> ofKeys) {
        Problems problems = new Problems();
        LoadedPolicies loaded = load(over, problems);
        Map<Long, List<ConfigurationProblem>> ofOverrides = new HashMap<>();
        for (RuntimeChange change : ofKeys) {
            Policy policy = loaded.policies().get(change.subject().policy());
            Problems found = new Problems();
            if (policy != null) {
                OverrideReader.read(policy, change.values(), found).ifPresent(limits -> {
                    if (limits.hasConcurrency() && !concurrency) {
                        found.add(new ConfigurationProblem("WEIR-134", "place", "", "no", "none"));
                    }
                    if (policy.canReject() && limits.limits().get(0).permits() > maxOverride) {
                        found.add(new ConfigurationProblem("WEIR-140", "place", "", "too much", "less"));
                    }
                });
            }
            if (!found.found().isEmpty()) {
                ofOverrides.put(change.number(), found.found());
            }
        }
        return new Findings(problems.found(), loaded.invalid(), ofOverrides);
    }

    @Override
    public List<String> warnings(PolicyValues over, String policy) {
        return List.of();
    }

    @Override
    public Object configuration() {
        return Map.copyOf(configuration);
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
            throw new RateLimitUnavailableException(reason);
        }
    }
}
