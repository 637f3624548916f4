// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigProperty;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigValue;
import org.eclipse.microprofile.config.spi.ConfigSource;

/**
 * The properties of a MicroProfile configuration.
 *
 * @param config the configuration
 */
public record MicroProfileProperties(Config config) implements ConfigProperties {
    private static final String PREFIX = "ratelimit.";

    /** An expression without a default. */
    private static final Pattern EXPRESSION = Pattern.compile("\\$\\{([^${}:]+)}");

    @Override
    public ConfigProperty get(String name) {
        try {
            Optional<String> value = config.getOptionalValue(name, String.class);
            if (value.isPresent()) {
                return ConfigProperty.of(value.get());
            }
            // MicroProfile Config treats an unresolved expression in an optional property as no value. Without this
            // test, a secret or a limit would be missing without a message.
            ConfigValue unresolved = config.getConfigValue(name);
            return unresolved.getRawValue() == null || unresolved.getValue() != null
                    ? ConfigProperty.ABSENT
                    : ConfigProperty.unresolved(unset(unresolved.getRawValue()));
        } catch (IllegalArgumentException | NoSuchElementException e) {
            return ConfigProperty.UNREADABLE;
        }
    }

    private List<String> unset(String text) {
        return EXPRESSION
                .matcher(text)
                .results()
                .map((MatchResult expression) -> expression.group(1))
                .filter(name -> config.getConfigValue(name).getValue() == null)
                .distinct()
                .toList();
    }

    @Override
    public String source(String name) {
        String source = config.getConfigValue(name).getSourceName();
        return source == null || source.isBlank() ? "configuration" : source;
    }

    @Override
    public int ordinal(String name) {
        return config.getConfigValue(name).getSourceOrdinal();
    }

    @Override
    public Set<String> names() {
        Set<String> names = new TreeSet<>();
        // A name can be set for the active profile only: %prod.ratelimit.policies.api.limit.
        String profile =
                "%" + config.getOptionalValue("mp.config.profile", String.class).orElse("") + ".";
        for (ConfigSource source : config.getConfigSources()) {
            if (!isEnvironment(source)) {
                source.getPropertyNames().stream()
                        .map(name -> name.startsWith(profile) ? name.substring(profile.length()) : name)
                        .filter(name -> name.startsWith(PREFIX))
                        .forEach(names::add);
            }
        }
        return names;
    }

    private static boolean isEnvironment(ConfigSource source) {
        return source.getClass().getSimpleName().startsWith("Env")
                || source.getName().startsWith("Env");
    }
}
