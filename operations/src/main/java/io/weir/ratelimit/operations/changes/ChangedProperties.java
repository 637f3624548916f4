// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.core.config.ConfigProperties;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The configuration with the values of runtime changes over it. A value of a change precedes that of the configuration, however the
 * configuration writes the name of the policy.
 */
public final class ChangedProperties implements ConfigProperties {
    private static final String POLICIES = "ratelimit.policies.";

    private final ConfigProperties config;

    /** The changes by the name that a reader of the configuration uses for the property. */
    private final Map<String, Value> values = new HashMap<>();

    private final Set<String> names;

    private record Value(String text, RuntimeChange change) {}

    private ChangedProperties(ConfigProperties config, PolicyValues changes, Set<String> policies) {
        this.config = config;
        this.names = new TreeSet<>(config.names());
        changes.changes().forEach((policy, attributes) -> {
            if (policies.contains(policy)) {
                attributes.forEach((attribute, change) -> add(policy, attribute, change));
            }
        });
    }

    /** Lays the values of changes over a configuration, except those of policies that do not exist without the changes. */
    public static ConfigProperties over(ConfigProperties config, PolicyValues changes, Set<String> policies) {
        return changes.isEmpty() ? config : new ChangedProperties(config, changes, policies);
    }

    private void add(String policy, String attribute, RuntimeChange change) {
        String text = change.values().get(attribute);
        // Everyone who can write to the store can write another attribute.
        if (text == null || !RuntimeChange.Kind.POLICY.attributes().contains(attribute)) {
            return;
        }
        Value value = new Value(text, change);
        String quoted = POLICIES + '"' + policy + "\"." + attribute;
        boolean dotted = policy.indexOf('.') >= 0;
        if (!dotted) {
            values.put(POLICIES + policy + "." + attribute, value);
        }
        // A reader prefers the name in quotes if it has a value, so it gets one only if it had one.
        ConfigProperties.Property configured = config.get(quoted);
        if (dotted || configured.value().isPresent() || !configured.readable()) {
            values.put(quoted, value);
            names.add(quoted);
        } else {
            names.add(POLICIES + policy + "." + attribute);
        }
    }

    @Override
    public ConfigProperties.Property get(String name) {
        Value value = values.get(name);
        return value == null ? config.get(name) : ConfigProperties.Property.of(value.text());
    }

    @Override
    public String source(String name) {
        return change(name)
                .map(change -> CHANGE + change.number() + " by " + change.author())
                .orElseGet(() -> config.source(name));
    }

    private Optional<RuntimeChange> change(String name) {
        @Nullable Value value = values.get(name);
        return value == null ? Optional.empty() : Optional.of(value.change());
    }

    @Override
    public Set<String> names() {
        return names;
    }
}
