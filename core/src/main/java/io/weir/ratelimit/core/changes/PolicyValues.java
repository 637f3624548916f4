// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.changes;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * The values that runtime changes give to attributes of policies.
 *
 * @param changes the change that determines each value, by policy and attribute
 */
public record PolicyValues(Map<String, Map<String, RuntimeChange>> changes) {
    /** No values. */
    public static final PolicyValues NONE = new PolicyValues(Map.of());

    /** Copies the maps. */
    public PolicyValues {
        Map<String, Map<String, RuntimeChange>> copy = new TreeMap<>();
        changes.forEach((policy, values) -> copy.put(policy, Collections.unmodifiableMap(new TreeMap<>(values))));
        changes = Collections.unmodifiableMap(copy);
    }

    /**
     * Tests whether there are no values.
     *
     * @return true if the configuration applies as it is
     */
    public boolean isEmpty() {
        return changes.isEmpty();
    }

    /**
     * Returns the values of one change.
     *
     * @param change a change of a policy, or one of the limits of a key of it
     * @return the values, as if they were those of the policy
     */
    public static PolicyValues of(RuntimeChange change) {
        Map<String, RuntimeChange> values = new TreeMap<>();
        change.values().keySet().forEach(attribute -> values.put(attribute, change));
        return new PolicyValues(Map.of(change.subject().policy(), values));
    }
}
