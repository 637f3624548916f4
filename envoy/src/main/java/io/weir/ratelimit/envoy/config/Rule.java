// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy.config;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The limit of a descriptor in a configuration file.
 *
 * @param policy the name of the policy; empty if the descriptor is unlimited
 * @param name the name by which other rules replace this one; empty if it has none
 * @param replaces the names of the rules that do not apply to a request to which this one applies
 * @param terms the key terms by the position of their entry, for the entries whose values are part of the key
 */
public record Rule(Optional<String> policy, String name, Set<String> replaces, Map<Integer, String> terms) {
    /** Copies the collections. */
    public Rule {
        replaces = Set.copyOf(replaces);
        terms = Map.copyOf(terms);
    }
}
