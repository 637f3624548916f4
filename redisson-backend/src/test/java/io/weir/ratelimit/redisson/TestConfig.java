// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.client.RedisProperties;
import io.weir.ratelimit.redisson.client.ServerProperties;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigValue;
import org.eclipse.microprofile.config.spi.ConfigBuilder;
import org.eclipse.microprofile.config.spi.ConfigProviderResolver;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.eclipse.microprofile.config.spi.Converter;

/** A configuration with given properties. By default it disables the breaker, and a started backend has a deadline that each call meets. */
public final class TestConfig implements Config {
    private static final String DEADLINE = "ratelimit.redis.deadline";
    private static final Duration LONG = Duration.ofSeconds(20);

    private final Map<String, String> properties;

    /** The ordinals of the sources of properties, which have the name of the ordinal. Other properties have 100. */
    private final Map<String, Integer> ordinals;

    public TestConfig(Map<String, String> properties) {
        this(properties, Map.of());
    }

    public TestConfig(Map<String, String> properties, Map<String, Integer> ordinals) {
        this.ordinals = ordinals;
        Map<String, String> all = new HashMap<>(properties);
        all.putIfAbsent("CircuitBreaker/enabled", "false");
        this.properties = Map.copyOf(all);
    }

    /** Returns the properties as the backend reads them. */
    public RedisProperties properties() {
        return new ServerProperties(() -> this);
    }

    /** Returns this configuration with a deadline, for a test of what happens at the deadline or in an outage. */
    public TestConfig withDeadline(Duration deadline) {
        Map<String, String> all = new HashMap<>(properties);
        all.put(DEADLINE, deadline.toMillis() + "ms");
        return new TestConfig(all, ordinals);
    }

    /** Starts a backend with this configuration and no client of the application. */
    public RedissonBackend started() {
        return started((requests, waitingKeys) -> {});
    }

    /** Returns the problems of this configuration. */
    List<ConfigurationProblem> validated() {
        ConfigProviderResolver.setInstance(new OnlyThis(this));
        try {
            return new RedissonBackend(null, null).validateConfiguration();
        } finally {
            ConfigProviderResolver.setInstance(null);
        }
    }

    /** Starts a backend with a listener. */
    public RedissonBackend started(BackendListener listener) {
        ConfigProviderResolver.setInstance(new OnlyThis(properties.containsKey(DEADLINE) ? this : withDeadline(LONG)));
        try {
            RedissonBackend backend = new RedissonBackend(null, null);
            if (!backend.isConfigured() || !backend.validateConfiguration().isEmpty()) {
                throw new AssertionError("not configured: " + backend.validateConfiguration());
            }
            backend.registerListener(listener);
            backend.start();
            return backend;
        } finally {
            ConfigProviderResolver.setInstance(null);
        }
    }

    @Override
    public <T> Optional<T> getOptionalValue(String name, Class<T> type) {
        return Optional.ofNullable(properties.get(name)).map(type::cast);
    }

    @Override
    public <T> T getValue(String name, Class<T> type) {
        return getOptionalValue(name, type).orElseThrow();
    }

    @Override
    public Iterable<String> getPropertyNames() {
        return properties.keySet();
    }

    @Override
    public ConfigValue getConfigValue(String name) {
        return new Value(name, properties.get(name), ordinals.getOrDefault(name, 100));
    }

    private record Value(String name, String value, int ordinal) implements ConfigValue {
        @Override
        public String getName() {
            return name;
        }

        @Override
        public String getValue() {
            return value;
        }

        @Override
        public String getRawValue() {
            return value;
        }

        @Override
        public String getSourceName() {
            return "source " + ordinal;
        }

        @Override
        public int getSourceOrdinal() {
            return ordinal;
        }
    }

    @Override
    public Iterable<ConfigSource> getConfigSources() {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> Optional<Converter<T>> getConverter(Class<T> type) {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        throw new UnsupportedOperationException();
    }

    private static final class OnlyThis extends ConfigProviderResolver {
        private final Config config;

        OnlyThis(Config config) {
            this.config = config;
        }

        @Override
        public Config getConfig() {
            return config;
        }

        @Override
        public Config getConfig(ClassLoader loader) {
            return config;
        }

        @Override
        public ConfigBuilder getBuilder() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void registerConfig(Config any, ClassLoader loader) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void releaseConfig(Config any) {
            throw new UnsupportedOperationException();
        }
    }
}
