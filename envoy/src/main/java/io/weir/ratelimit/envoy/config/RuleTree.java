// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy.config;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A descriptor of a configuration file with the descriptors below it. */
public final class RuleTree {
    private final Map<Place, RuleTree> children = new LinkedHashMap<>();
    private @Nullable Rule rule;

    RuleTree() {}

    /**
     * A descriptor among those of its level.
     *
     * @param value the value, empty for all values; an asterisk at its end stands for any rest
     */
    record Place(String key, String value) {
        boolean isWildcard() {
            return value.endsWith("*");
        }

        private boolean fits(String otherKey, String otherValue) {
            return isWildcard()
                    && key.equals(otherKey)
                    && otherValue.startsWith(value.substring(0, value.length() - 1));
        }
    }

    /** Adds a descriptor. Returns null if the level has it already. */
    @Nullable
    RuleTree add(Place place) {
        RuleTree child = new RuleTree();
        return children.putIfAbsent(place, child) == null ? child : null;
    }

    void limit(Rule limit) {
        rule = limit;
    }

    Optional<Rule> rule() {
        return Optional.ofNullable(rule);
    }

    /** Returns the rules of this descriptor and of those below it. */
    Stream<Rule> rules() {
        return Stream.concat(rule().stream(), children.values().stream().flatMap(RuleTree::rules));
    }

    /** Returns the descriptor for an entry: that with the value, else the first wildcard, else that for all values. */
    @Nullable
    RuleTree child(String key, String value) {
        RuleTree exact = value.isEmpty() ? null : children.get(new Place(key, value));
        if (exact != null) {
            return exact;
        }
        for (Map.Entry<Place, RuleTree> each : children.entrySet()) {
            if (each.getKey().fits(key, value)) {
                return each.getValue();
            }
        }
        return children.get(new Place(key, ""));
    }
}
