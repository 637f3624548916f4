// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The properties of a test: one {@code name=value} per line. An expression resolves to its default; an expression without a
 * default cannot be read.
 */
public final class Configs implements ConfigProperties {
    private final Map<String, String> environment;
    private final Map<String, String> properties = new LinkedHashMap<>();

    private Configs(Map<String, String> environment, String... lines) {
        this.environment = environment;
        for (String line : lines) {
            int equals = line.indexOf('=');
            properties.put(line.substring(0, equals), line.substring(equals + 1));
        }
    }

    public static Configs of(String... lines) {
        return new Configs(Map.of(), lines);
    }

    /**
     * Returns these properties with environment variables. A variable overrides a line by the name that MicroProfile Config
     * derives.
     */
    public static Configs withEnvironment(Map<String, String> environment, String... lines) {
        return new Configs(environment, lines);
    }

    @Override
    public ConfigProperties.Property get(String name) {
        String raw = ofEnvironment(name).orElse(properties.get(name));
        String value = raw == null ? null : raw.replaceFirst("^\\$\\{[^:}]*:([^}]*)}$", "$1");
        if (value == null || value.isEmpty()) {
            return ConfigProperties.Property.ABSENT;
        }
        return value.contains("${") ? ConfigProperties.Property.UNREADABLE : ConfigProperties.Property.of(value);
    }

    private Optional<String> ofEnvironment(String name) {
        String replaced = name.replaceAll("[^A-Za-z0-9]", "_");
        return Optional.ofNullable(environment.get(name))
                .or(() -> Optional.ofNullable(environment.get(replaced)))
                .or(() -> Optional.ofNullable(environment.get(replaced.toUpperCase(Locale.ROOT))));
    }

    @Override
    public String source(String name) {
        return ofEnvironment(name).isPresent() ? "environment" : "application";
    }

    @Override
    public Set<String> names() {
        Set<String> names = new TreeSet<>(properties.keySet());
        names.removeIf(name -> !name.startsWith("ratelimit."));
        return names;
    }
}
