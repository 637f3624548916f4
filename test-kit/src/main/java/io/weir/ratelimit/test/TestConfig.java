// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import java.util.Map;
import java.util.Set;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.spi.ConfigBuilder;
import org.eclipse.microprofile.config.spi.ConfigProviderResolver;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/** The MicroProfile configuration of one test class. */
final class TestConfig {
    private final Config config;

    private TestConfig(Config config) {
        this.config = config;
    }

    /** Tests whether MicroProfile Config has an implementation. */
    static boolean isImplemented() {
        try {
            ConfigProviderResolver.instance();
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /** Registers properties over those of the class path, for a class loader that has no configuration. */
    static TestConfig register(Map<String, String> properties, ClassLoader loader) {
        ConfigProviderResolver resolver = ConfigProviderResolver.instance();
        ConfigBuilder builder = resolver.getBuilder()
                .forClassLoader(loader)
                .addDefaultSources()
                .addDiscoveredSources()
                .addDiscoveredConverters();
        if (!properties.isEmpty()) { // an empty source is one without names
            builder.withSources(new Source(properties));
        }
        Config config = builder.build();
        resolver.registerConfig(config, loader);
        return new TestConfig(config);
    }

    Config config() {
        return config;
    }

    void release() {
        ConfigProviderResolver.instance().releaseConfig(config);
    }

    /** A source that takes precedence over system properties. */
    private record Source(Map<String, String> properties) implements ConfigSource {
        @Override
        public Set<String> getPropertyNames() {
            return properties.keySet();
        }

        @Override
        public int getOrdinal() {
            return 1_000;
        }

        @Override
        public @Nullable String getValue(String name) {
            return properties.get(name);
        }

        @Override
        public String getName() {
            return "@WeirTest";
        }
    }
}
