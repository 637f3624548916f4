// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The differences between two snapshots.
 *
 * @param descriptions one text for each kind of change
 */
record PolicyChanges(List<String> descriptions) {

    static PolicyChanges between(PolicySnapshot before, PolicySnapshot after) {
        List<String> descriptions = new ArrayList<>();
        add(descriptions, "new policies ", added(before.policies(), after.policies()));
        add(descriptions, "removed policies ", added(after.policies(), before.policies()));
        add(descriptions, "changed policies ", changed(before.policies(), after.policies()));
        Set<String> costs = added(before.costs(), after.costs());
        costs.addAll(added(after.costs(), before.costs()));
        costs.addAll(changed(before.costs(), after.costs()));
        add(descriptions, "changed costs of ", costs);
        if (!after.bypass().equals(before.bypass())) {
            descriptions.add("changed bypass");
        }
        return new PolicyChanges(List.copyOf(descriptions));
    }

    boolean isEmpty() {
        return descriptions.isEmpty();
    }

    @Override
    public String toString() {
        return isEmpty() ? "no change" : String.join("; ", descriptions);
    }

    private static void add(List<String> descriptions, String kind, Set<String> names) {
        if (!names.isEmpty()) {
            descriptions.add(kind + names);
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
}
