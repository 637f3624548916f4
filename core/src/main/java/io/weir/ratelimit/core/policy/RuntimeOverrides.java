// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The limits that operators set for single keys.
 *
 * @param policies the names of the policies that have such a key or a source of limits
 */
record RuntimeOverrides(Map<Overrides.Subject, RuntimeOverride> byKey, Set<String> policies) {
    /** Copies the collections. */
    RuntimeOverrides {
        byKey = Map.copyOf(byKey);
        policies = Set.copyOf(policies);
    }

    /** Returns the limits of a key, null if there are none. A policy without such keys has no look-up by key. */
    @Nullable
    RuntimeOverride of(Policy policy, String storedKey) {
        return byKey.isEmpty() ? null : byKey.get(new Overrides.Subject(policy.name(), storedKey));
    }

    /** Returns the state with other values. A key with unchanged values keeps its limits, because calls wait under them. */
    RuntimeOverrides next(Map<Overrides.Subject, Map<String, String>> values, Set<String> ofSources) {
        Map<Overrides.Subject, RuntimeOverride> next = new HashMap<>();
        Set<String> names = new HashSet<>(ofSources);
        values.forEach((subject, each) -> {
            RuntimeOverride known = byKey.get(subject);
            next.put(subject, known != null && known.values().equals(each) ? known : new RuntimeOverride(each));
            names.add(subject.policy());
        });
        return new RuntimeOverrides(next, names);
    }
}
