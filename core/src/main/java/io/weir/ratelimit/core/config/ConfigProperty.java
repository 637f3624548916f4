// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import java.util.List;
import java.util.Optional;

/**
 * A configuration property.
 *
 * @param value the value with its expressions resolved; empty if the property is not set or not readable
 * @param readable whether the value can be read; false, for example, if it refers to a property that does not exist
 * @param unset the names in the expressions of an unreadable value that have no value; empty if they are not known
 * @param sources the sources of an unreadable list whose elements several sources set; empty otherwise
 */
public record ConfigProperty(Optional<String> value, boolean readable, List<String> unset, List<String> sources) {
    /** A property without a value. */
    public static final ConfigProperty ABSENT = new ConfigProperty(Optional.empty(), true, List.of(), List.of());

    /** A property whose value cannot be read for an unknown reason. */
    public static final ConfigProperty UNREADABLE = new ConfigProperty(Optional.empty(), false, List.of(), List.of());

    /** Copies the lists. */
    public ConfigProperty {
        unset = List.copyOf(unset);
        sources = List.copyOf(sources);
    }

    /** Creates a property with a value. */
    public static ConfigProperty of(String value) {
        return new ConfigProperty(Optional.of(value), true, List.of(), List.of());
    }

    /**
     * Creates a property that cannot be read because its expressions name properties without a value.
     *
     * @param unset these names; empty if they are not known
     */
    public static ConfigProperty unresolved(List<String> unset) {
        return new ConfigProperty(Optional.empty(), false, unset, List.of());
    }

    /** Creates a list that cannot be read because its elements come from several sources. */
    public static ConfigProperty ofSeveralSources(List<String> sources) {
        return new ConfigProperty(Optional.empty(), false, List.of(), sources);
    }

    /** Returns a text without the value, which can be a secret. */
    @Override
    public String toString() {
        return "ConfigProperty[" + (value.isPresent() ? "***" : readable ? "absent" : "unreadable") + "]";
    }
}
