// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A descriptor of a configuration file with the descriptors below it. */
public final class RuleTree {
    private final Map<Place, RuleTree> children = new LinkedHashMap<>();
    private final List<Wildcard> wildcards = new ArrayList<>();
    private @Nullable Rule rule;

    RuleTree() {}

    /**
     * A descriptor among those of its level.
     *
     * @param value the value, empty for all values; each asterisk stands for any characters, also for none
     */
    record Place(String key, String value) {
        boolean isWildcard() {
            return value.contains("*");
        }
    }

    /**
     * A descriptor for all values that have some parts in order.
     *
     * @param parts the parts between asterisks: the first one begins a value, and the last one ends it
     */
    private record Wildcard(String key, List<String> parts, RuleTree tree) {
        /** Looks for each part once, because the first place that it has leaves the most for the others. */
        private boolean fits(String otherKey, String value) {
            String first = parts.get(0);
            String last = parts.get(parts.size() - 1);
            if (!key.equals(otherKey) || !value.startsWith(first) || !value.endsWith(last)) {
                return false;
            }
            int end = first.length();
            for (String part : parts.subList(1, parts.size() - 1)) {
                int start = value.indexOf(part, end);
                if (start < 0) {
                    return false;
                }
                end = start + part.length();
            }
            return end <= value.length() - last.length();
        }
    }

    /** Adds a descriptor. Returns null if the level has it already. */
    @Nullable
    RuleTree add(Place place) {
        RuleTree child = new RuleTree();
        if (children.putIfAbsent(place, child) != null) {
            return null;
        }
        if (place.isWildcard()) {
            wildcards.add(new Wildcard(place.key(), List.of(place.value().split("\\*", -1)), child));
        }
        return child;
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
        for (Wildcard each : wildcards) {
            if (each.fits(key, value)) {
                return each.tree();
            }
        }
        return children.get(new Place(key, ""));
    }
}
