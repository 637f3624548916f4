// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy.config;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The configuration files of all domains.
 *
 * @param domains the rules by domain
 * @param properties the properties of the policies of all rules
 * @param sources the file of each property
 */
public record EnvoyConfig(Map<String, RuleTree> domains, Map<String, String> properties, Map<String, String> sources) {
    /** No configuration file. */
    public static final EnvoyConfig NONE = new EnvoyConfig(Map.of(), Map.of(), Map.of());

    /** Copies the maps. */
    public EnvoyConfig {
        domains = Map.copyOf(domains);
        properties = Map.copyOf(properties);
        sources = Map.copyOf(sources);
    }

    /**
     * A rule that applies to a descriptor.
     *
     * @param values the values of entries by the name of the key term
     */
    public record Match(Rule rule, Map<String, String> values) {}

    /** Returns the names of the policies of all rules. */
    Set<String> policies() {
        return domains.values().stream()
                .flatMap(RuleTree::rules)
                .flatMap(rule -> rule.policy().stream())
                .collect(Collectors.toSet());
    }

    /** Returns these files with the policies of other files that they do not have. */
    EnvoyConfig withPoliciesOf(EnvoyConfig other) {
        Map<String, String> all = new HashMap<>(properties);
        Map<String, String> files = new HashMap<>(sources);
        List<String> own = policies().stream().map(EnvoyConfigReader::prefix).toList();
        other.properties.forEach((name, value) -> {
            if (own.stream().noneMatch(name::startsWith)) {
                all.put(name, value);
                files.put(name, other.sources.get(name));
            }
        });
        return new EnvoyConfig(domains, all, files);
    }

    /** Tests whether a file has a domain. */
    public boolean has(String domain) {
        return domains.containsKey(domain);
    }

    /**
     * Finds the rule of a descriptor. A rule applies if it has as many levels as the descriptor has entries.
     *
     * @return the rule; empty if there is none
     */
    public Optional<Match> match(String domain, List<RateLimitDescriptor.Entry> entries) {
        RuleTree tree = domains.get(domain);
        for (int i = 0; tree != null && i < entries.size(); i++) {
            tree = tree.child(entries.get(i).getKey(), entries.get(i).getValue());
        }
        return entries.isEmpty()
                ? Optional.empty()
                : Optional.ofNullable(tree).flatMap(RuleTree::rule).map(rule -> match(rule, entries));
    }

    private static Match match(Rule rule, List<RateLimitDescriptor.Entry> entries) {
        Map<String, String> values = new HashMap<>();
        rule.terms().forEach((position, term) -> {
            if (!term.equals(KeyTermNames.ADDRESS)) {
                values.put(term, entries.get(position).getValue());
            }
        });
        return new Match(rule, Map.copyOf(values));
    }
}
