// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The configuration properties of the application. */
public interface ConfigProperties {
    /**
     * Returns a property.
     *
     * @param name the full name, such as {@code ratelimit.enabled}
     * @return the property; {@link ConfigProperty#ABSENT} if no source sets it
     */
    ConfigProperty get(String name);

    /** Returns the source of a property. */
    String source(String name);

    /**
     * Returns the precedence of the source of a property.
     *
     * @return the ordinal of the source, which takes precedence over lower ones; 0 if sources have none
     */
    default int ordinal(String name) {
        return 0;
    }

    /**
     * Lists the properties that begin with {@code ratelimit.}.
     *
     * @return the names, without those that only environment variables set, because {@code RATELIMIT_POLICIES_A_B_LIMIT} does not
     *     determine the name of a property
     */
    Set<String> names();

    /**
     * Lists what is wrong with the sources, for example a source whose last properties are in force because it is empty now.
     *
     * @return the problems; empty if the sources were read completely
     */
    default List<ConfigurationProblem> problems() {
        return List.of();
    }

    /**
     * Returns the properties of a source whose format has lists: each list is one property, whose elements commas separate.
     *
     * @return the properties, whose names are read once
     */
    default ConfigProperties withJoinedLists() {
        return new ListElements(this);
    }

    /**
     * Creates properties from a map.
     *
     * @param values the values by name, taken literally
     */
    static ConfigProperties of(Map<String, String> values) {
        Map<String, String> copy = Map.copyOf(values);
        return new ConfigProperties() {
            @Override
            public ConfigProperty get(String name) {
                String value = copy.get(name);
                return value == null ? ConfigProperty.ABSENT : ConfigProperty.of(value);
            }

            @Override
            public String source(String name) {
                return "map";
            }

            @Override
            public Set<String> names() {
                Set<String> names = new TreeSet<>(copy.keySet());
                names.removeIf(name -> !name.startsWith("ratelimit."));
                return names;
            }
        };
    }
}
