// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigValue;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.eclipse.microprofile.config.spi.Converter;
import org.jspecify.annotations.Nullable;

/**
 * A configuration whose values stay as they were when they were first asked for, and that can tell whether another one would
 * answer the same.
 */
public final class ConfigSnapshot implements Config {
    private final Config config;
    private final Set<String> names;
    private final Map<String, Answer> answers = new ConcurrentHashMap<>();

    /**
     * What a configuration answers about a property.
     *
     * @param value the value, null if there is none
     * @param raw the value before its expressions are resolved
     * @param unreadable whether the configuration threw
     */
    private record Answer(@Nullable String value, @Nullable String raw, boolean unreadable) {}

    /**
     * A snapshot that is empty but for the names of properties.
     *
     * @param config where from; what its sources throw is thrown
     */
    public ConfigSnapshot(Config config) {
        this.config = config;
        this.names = names(config);
    }

    private static Set<String> names(Config config) {
        return new ConfigReader(config, new Problems()).names();
    }

    /**
     * Whether a configuration answers all that was asked here as this one did.
     *
     * @param other another configuration; what its sources throw is thrown
     * @return true if reading it would find nothing new
     */
    public boolean isSameIn(Config other) {
        return names(other).equals(names)
                && answers.entrySet().stream()
                        .allMatch(asked -> ask(other, asked.getKey()).equals(asked.getValue()));
    }

    private static Answer ask(Config config, String name) {
        try {
            Optional<String> value = config.getOptionalValue(name, String.class);
            return value.isPresent()
                    ? new Answer(value.get(), null, false)
                    : new Answer(null, config.getConfigValue(name).getRawValue(), false);
        } catch (IllegalArgumentException | NoSuchElementException e) {
            return new Answer(null, null, true);
        }
    }

    private Answer answer(String name) {
        Answer known = answers.get(name);
        return known != null ? known : answers.computeIfAbsent(name, asked -> ask(config, asked));
    }

    @Override
    public <T> Optional<T> getOptionalValue(String name, Class<T> type) {
        if (type != String.class) {
            return config.getOptionalValue(name, type);
        }
        Answer answer = answer(name);
        if (answer.unreadable) {
            throw new NoSuchElementException(name);
        }
        return Optional.ofNullable(answer.value).map(type::cast);
    }

    @Override
    public <T> T getValue(String name, Class<T> type) {
        return config.getValue(name, type);
    }

    @Override
    public ConfigValue getConfigValue(String name) {
        return config.getConfigValue(name);
    }

    @Override
    public Iterable<String> getPropertyNames() {
        return config.getPropertyNames();
    }

    @Override
    public Iterable<ConfigSource> getConfigSources() {
        return config.getConfigSources();
    }

    @Override
    public <T> Optional<Converter<T>> getConverter(Class<T> type) {
        return config.getConverter(type);
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        return config.unwrap(type);
    }
}
