// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.changes;

import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
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

    /** Returns these values and those of a request, which precede them. */
    PolicyValues with(ChangeRequest request) {
        RuntimeChange change = new RuntimeChange(
                1,
                request.subject(),
                request.values(),
                Map.of(),
                request.author(),
                request.reason(),
                Instant.EPOCH,
                Optional.empty(),
                OptionalLong.empty());
        Map<String, Map<String, RuntimeChange>> all = new TreeMap<>(changes);
        Map<String, RuntimeChange> ofPolicy =
                new TreeMap<>(changes.getOrDefault(request.subject().policy(), Map.of()));
        request.values().keySet().forEach(attribute -> ofPolicy.put(attribute, change));
        all.put(request.subject().policy(), ofPolicy);
        return new PolicyValues(all);
    }
}
