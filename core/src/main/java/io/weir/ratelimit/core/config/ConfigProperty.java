// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import java.util.Optional;

/**
 * A configuration property.
 *
 * @param value the value with its expressions resolved; empty if the property is not set or not readable
 * @param readable whether the value can be read; false, for example, if it refers to a property that does not exist
 */
public record ConfigProperty(Optional<String> value, boolean readable) {
    /** A property without a value. */
    public static final ConfigProperty ABSENT = new ConfigProperty(Optional.empty(), true);

    /** A property whose value cannot be read. */
    public static final ConfigProperty UNREADABLE = new ConfigProperty(Optional.empty(), false);

    /**
     * Creates a property with a value.
     *
     * @param value the value
     * @return the property
     */
    public static ConfigProperty of(String value) {
        return new ConfigProperty(Optional.of(value), true);
    }

    /** Returns a text without the value, which can be a secret. */
    @Override
    public String toString() {
        return "ConfigProperty[" + (value.isPresent() ? "***" : readable ? "absent" : "unreadable") + "]";
    }
}
