// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.snapshot.ValueLayer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Attributes of policies that a test has changed.
 *
 * @param values the values by the name of the property
 */
record ChangedAttributes(Map<String, String> values) implements ValueLayer {
    static final ChangedAttributes NONE = new ChangedAttributes(Map.of());

    ChangedAttributes {
        values = Map.copyOf(values);
    }

    /** Returns these attributes with another one. */
    ChangedAttributes with(String policy, String attribute, String value) {
        Map<String, String> all = new HashMap<>(values);
        String name = policy.indexOf('.') < 0 ? policy : '"' + policy + '"';
        all.put("ratelimit.policies." + name + "." + attribute, value);
        return new ChangedAttributes(all);
    }

    @Override
    public boolean isEmpty() {
        return values.isEmpty();
    }

    @Override
    public ConfigProperties over(ConfigProperties config, Set<String> policies) {
        Set<String> names = new TreeSet<>(config.names());
        names.addAll(values.keySet());
        return new ConfigProperties() {
            @Override
            public ConfigProperties.Property get(String name) {
                String value = values.get(name);
                return value == null ? config.get(name) : ConfigProperties.Property.of(value);
            }

            @Override
            public String source(String name) {
                return values.containsKey(name) ? "RateLimits.change" : config.source(name);
            }

            @Override
            public Set<String> names() {
                return names;
            }
        };
    }
}
