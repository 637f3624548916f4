// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import io.weir.ratelimit.core.config.ConfigProperties;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The properties of a test. */
final class Lines {
    private Lines() {}

    /** Returns the properties of lines such as {@code name=value}. */
    static ConfigProperties of(String... lines) {
        Map<String, String> properties = new HashMap<>();
        for (String line : lines) {
            int equals = line.indexOf('=');
            properties.put(line.substring(0, equals), line.substring(equals + 1));
        }
        return ConfigProperties.of(properties);
    }

    /** Returns a property that an environment variable sets, so that no source lists its name. */
    static ConfigProperties ofVariable(String property, String value) {
        return new ConfigProperties() {
            @Override
            public ConfigProperties.Property get(String name) {
                return name.equals(property) ? ConfigProperties.Property.of(value) : ConfigProperties.Property.ABSENT;
            }

            @Override
            public String source(String name) {
                return "environment";
            }

            @Override
            public Set<String> names() {
                return Set.of();
            }
        };
    }
}
