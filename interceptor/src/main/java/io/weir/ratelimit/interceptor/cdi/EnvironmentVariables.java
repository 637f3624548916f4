// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.config.ConfigKeys;
import java.util.Collection;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.TreeSet;
import org.eclipse.microprofile.config.Config;

/** The environment variables that only a property of this library can use. */
final class EnvironmentVariables {
    private static final String REDIS = ConfigKeys.VARIABLES + "REDIS_";

    private EnvironmentVariables() {}

    /**
     * Returns the variables of this library without those that an expression of the configuration or a Redisson file can use.
     */
    static Set<String> of(Collection<String> variables, Config config) {
        Set<String> own = new TreeSet<>(variables);
        own.removeIf(variable -> !variable.startsWith(ConfigKeys.VARIABLES));
        if (own.isEmpty()) {
            return own;
        }
        if (config.getOptionalValue(ConfigKeys.REDIS_CONFIG.name(), String.class)
                .isPresent()) {
            own.removeIf(variable -> variable.startsWith(REDIS));
        }
        for (String name : config.getPropertyNames()) {
            String raw = raw(name, config);
            own.removeIf(variable -> raw.contains("${" + variable));
        }
        return own;
    }

    private static String raw(String name, Config config) {
        try {
            String raw = config.getConfigValue(name).getRawValue();
            return raw == null ? "" : raw;
        } catch (IllegalArgumentException | NoSuchElementException e) {
            return "";
        }
    }
}
