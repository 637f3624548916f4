// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The sources of the configuration, which are read once at the start and again at each reload. */
public interface PropertySources extends Supplier<ConfigProperties> {
    /** Returns the configuration of the first reading. */
    ConfigProperties first();

    /** Reads the sources again. */
    @Override
    ConfigProperties get();

    /**
     * Returns why the sources themselves cannot be read.
     *
     * @return the reason; empty if they are read
     */
    default Optional<String> difference() {
        return Optional.empty();
    }

    /** Returns the sources that list no names of properties. */
    default Set<String> withoutNames() {
        return Set.of();
    }

    /** Returns sources with the same properties at each reading. */
    static PropertySources of(ConfigProperties properties) {
        return new PropertySources() {
            @Override
            public ConfigProperties first() {
                return properties;
            }

            @Override
            public ConfigProperties get() {
                return properties;
            }
        };
    }
}
