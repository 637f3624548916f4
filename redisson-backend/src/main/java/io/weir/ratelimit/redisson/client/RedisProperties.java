// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import java.util.Optional;

/** The properties from which the backend is configured. */
@FunctionalInterface
public interface RedisProperties {
    /** Returns the value of a property; empty if it is not set. */
    Optional<String> get(String name);

    /** Returns the ordinal of the source of a property that is set. */
    default int ordinal(String name) {
        return 0;
    }

    /** Returns the name of the source of a property that is set. */
    default String source(String name) {
        return "properties";
    }
}
