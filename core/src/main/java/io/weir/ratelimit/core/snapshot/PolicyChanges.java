// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.policy.Policy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The differences between two snapshots: one text for each kind, and the policies whose path rule has ended. */
record PolicyChanges(List<String> descriptions, List<String> withoutPaths) {
    /** The number of policies or methods in one description. */
    static final int MAX_NAMES = 50;

    private static final int MAX_VALUE_LENGTH = 200;
    private static final String UNSET = "unset";

    static PolicyChanges between(PolicySnapshot before, PolicySnapshot after) {
        List<String> descriptions = new ArrayList<>();
        add(descriptions, "new policies ", added(before.policies(), after.policies()));
        add(descriptions, "removed policies ", added(after.policies(), before.policies()));
        add(
                descriptions,
                "changed policies ",
                changed(before.policies(), after.policies()).stream()
                        .map(name -> name + attributes(before, after, name))
                        .toList());
        Set<String> costs = added(before.costs(), after.costs());
        costs.addAll(added(after.costs(), before.costs()));
        costs.addAll(changed(before.costs(), after.costs()));
        add(
                descriptions,
                "changed costs of ",
                costs.stream()
                        .map(method -> method + " ("
                                + fromTo(
                                        text(before.costs().get(method)),
                                        text(after.costs().get(method))) + ")")
                        .toList());
        if (!after.bypass().equals(before.bypass())) {
            descriptions.add("changed bypass ("
                    + fromTo(before.bypass().toString(), after.bypass().toString()) + ")");
        }
        Map<String, Policy> remaining = after.policies();
        List<String> withoutPaths = new TreeMap<>(before.policies())
                .values().stream()
                        .filter(policy -> policy.pathRule().isPresent()
                                && Optional.ofNullable(remaining.get(policy.name()))
                                        .flatMap(Policy::pathRule)
                                        .isEmpty())
                        .map(Policy::name)
                        .toList();
        return new PolicyChanges(List.copyOf(descriptions), withoutPaths);
    }

    boolean isEmpty() {
        return descriptions.isEmpty();
    }

    @Override
    public String toString() {
        return isEmpty() ? "no change" : String.join("; ", descriptions);
    }

    private static void add(List<String> descriptions, String kind, Collection<String> names) {
        if (!names.isEmpty()) {
            String more = names.size() > MAX_NAMES ? ", and " + (names.size() - MAX_NAMES) + " more" : "";
            descriptions.add(kind + names.stream().limit(MAX_NAMES).collect(Collectors.joining(", ", "[", more + "]")));
        }
    }

    private static Set<String> added(Map<String, ?> before, Map<String, ?> after) {
        Set<String> added = new TreeSet<>(after.keySet());
        added.removeAll(before.keySet());
        return added;
    }

    private static Set<String> changed(Map<String, ?> before, Map<String, ?> after) {
        Set<String> changed = new TreeSet<>(before.keySet());
        changed.removeIf(name -> !after.containsKey(name) || after.get(name).equals(before.get(name)));
        return changed;
    }

    /** Describes the changed attributes of a policy; the text is empty if none is known. */
    private static String attributes(PolicySnapshot before, PolicySnapshot after, String policy) {
        Map<String, String> old = values(before, policy);
        Map<String, String> current = values(after, policy);
        Set<String> attributes = new TreeSet<>(old.keySet());
        attributes.addAll(current.keySet());
        return attributes.stream()
                .filter(attribute -> !Objects.equals(old.get(attribute), current.get(attribute)))
                .map(attribute -> attribute + " " + fromTo(text(old.get(attribute)), text(current.get(attribute))))
                .reduce((one, other) -> one + "; " + other)
                .map(changes -> " (" + changes + ")")
                .orElse("");
    }

    private static Map<String, String> values(PolicySnapshot snapshot, String policy) {
        Map<String, String> values = new TreeMap<>();
        for (Origin origin : snapshot.origins().getOrDefault(policy, List.of())) {
            values.put(origin.attribute(), origin.value());
        }
        return values;
    }

    private static String fromTo(String before, String after) {
        return "from " + before + " to " + after;
    }

    private static String text(@Nullable Object value) {
        String text = value == null ? UNSET : value.toString();
        return text.length() > MAX_VALUE_LENGTH ? text.substring(0, MAX_VALUE_LENGTH) + "…" : text;
    }
}
