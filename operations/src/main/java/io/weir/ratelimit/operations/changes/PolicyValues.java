// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.snapshot.ValueLayer;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The values that runtime changes give to attributes of policies. */
public record PolicyValues(Map<String, Map<String, RuntimeChange>> changes) implements ValueLayer {
    /** No values. */
    public static final PolicyValues NONE = new PolicyValues(Map.of());

    /** Copies the maps. */
    public PolicyValues {
        Map<String, Map<String, RuntimeChange>> copy = new TreeMap<>();
        changes.forEach((policy, values) -> copy.put(policy, Collections.unmodifiableMap(new TreeMap<>(values))));
        changes = Collections.unmodifiableMap(copy);
    }

    @Override
    public boolean isEmpty() {
        return changes.isEmpty();
    }

    @Override
    public ConfigProperties over(ConfigProperties config, Set<String> policies) {
        return ChangedProperties.over(config, this, policies);
    }

    /** Returns the values of a change of a policy or of the limits of a key of it, as if they were those of the policy. */
    public static PolicyValues of(RuntimeChange change) {
        Map<String, RuntimeChange> values = new TreeMap<>();
        change.values().keySet().forEach(attribute -> values.put(attribute, change));
        return new PolicyValues(Map.of(change.subject().policy(), values));
    }
}
