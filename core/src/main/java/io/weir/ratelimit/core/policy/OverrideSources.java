// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.PolicySource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;

/** The sources of limits of the application, by the policies that each source names. */
public final class OverrideSources {
    public static final OverrideSources NONE = new OverrideSources(Map.of(), (policy, limits) -> List.of());

    private final Map<String, List<PolicySource>> byPolicy;

    private final BiFunction<Policy, PolicyLimits, List<ConfigurationProblem>> check;

    private OverrideSources(
            Map<String, List<PolicySource>> byPolicy,
            BiFunction<Policy, PolicyLimits, List<ConfigurationProblem>> check) {
        this.byPolicy = Map.copyOf(byPolicy);
        this.check = check;
    }

    /** Groups sources by policy, with the highest priority first. Sources that do not return their policies are problems. */
    public static OverrideSources of(Collection<PolicySource> sources, Problems problems) {
        Map<String, List<PolicySource>> byPolicy = new TreeMap<>();
        sources.stream()
                .sorted(Comparator.comparingInt(PolicySource::priority)
                        .reversed()
                        .thenComparing(source -> source.getClass().getName()))
                .forEach(source -> policies(source, problems)
                        .forEach(policy -> byPolicy.computeIfAbsent(policy, first -> new ArrayList<>())
                                .add(source)));
        return new OverrideSources(byPolicy, NONE.check);
    }

    /** Returns the same sources with a check of the limits in their answers, which returns problems. */
    public OverrideSources checkedBy(BiFunction<Policy, PolicyLimits, List<ConfigurationProblem>> limitsCheck) {
        return new OverrideSources(byPolicy, limitsCheck);
    }

    /** Throws an {@link IllegalArgumentException} if calls of the policy cannot have the limits. */
    void check(Policy policy, PolicyLimits limits) {
        List<ConfigurationProblem> problems = check.apply(policy, limits);
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(problems.get(0).toString());
        }
    }

    private static Set<String> policies(PolicySource source, Problems problems) {
        String reason;
        try {
            return Set.copyOf(source.policies());
        } catch (RuntimeException e) {
            reason = e.toString();
        }
        problems.add(MESSAGES.problem("WEIR-215", source.getClass().getName() + ".policies()", "", reason));
        return Set.of();
    }

    public Set<String> policies() {
        return new TreeSet<>(byPolicy.keySet());
    }

    /** Returns the first answer with limits. */
    Optional<LimitOverride> find(String policy, Identity key) {
        for (PolicySource source : byPolicy.getOrDefault(policy, List.of())) {
            Optional<LimitOverride> answer = source.limits(policy, key);
            if (answer == null) {
                throw new IllegalStateException(source.getClass().getName() + " returned null");
            }
            if (answer.isPresent()) {
                return answer;
            }
        }
        return Optional.empty();
    }
}
