// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.LimitOverride;
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

/** The application's sources of limits, each for the policies that it has said it has limits for. */
public final class OverrideSources {
    /** No source. */
    public static final OverrideSources NONE = new OverrideSources(Map.of());

    private final Map<String, List<PolicySource>> byPolicy;

    private OverrideSources(Map<String, List<PolicySource>> byPolicy) {
        this.byPolicy = Map.copyOf(byPolicy);
    }

    /**
     * Asks sources for which policies they are.
     *
     * @param sources the sources
     * @param problems takes those that cannot tell
     * @return the sources by policy
     */
    public static OverrideSources of(Collection<PolicySource> sources, Problems problems) {
        Map<String, List<PolicySource>> byPolicy = new TreeMap<>();
        sources.stream()
                .sorted(Comparator.comparingInt(PolicySource::priority)
                        .reversed()
                        .thenComparing(source -> source.getClass().getName()))
                .forEach(source -> policies(source, problems)
                        .forEach(policy -> byPolicy.computeIfAbsent(policy, first -> new ArrayList<>())
                                .add(source)));
        return new OverrideSources(byPolicy);
    }

    private static Set<String> policies(PolicySource source, Problems problems) {
        String reason;
        try {
            return Set.copyOf(source.policies());
        } catch (RuntimeException e) {
            reason = e.toString();
        }
        problems.add(
                "WEIR-215",
                source.getClass().getName() + ".policies()",
                "",
                "does not tell the policies it has limits for: " + reason,
                "return a constant set of names");
        return Set.of();
    }

    /**
     * The policies that there are sources for.
     *
     * @return their names
     */
    public Set<String> policies() {
        return new TreeSet<>(byPolicy.keySet());
    }

    boolean areFor(String policy) {
        return byPolicy.containsKey(policy);
    }

    /** The first answer. */
    Optional<LimitOverride> ask(String policy, Identity key) {
        for (PolicySource source : byPolicy.getOrDefault(policy, List.of())) {
            Optional<LimitOverride> answer = source.limits(policy, key);
            if (answer == null) {
                throw new IllegalStateException(source.getClass().getName() + " answered null");
            }
            if (answer.isPresent()) {
                return answer;
            }
        }
        return Optional.empty();
    }
}
