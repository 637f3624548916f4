// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import java.util.Optional;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;

/** The properties of MicroProfile Config in the application. */
public record ServerProperties(Supplier<Config> config) implements RedisProperties {
    public ServerProperties() {
        this(ConfigProvider::getConfig);
    }

    @Override
    public Optional<String> get(String name) {
        return config.get().getOptionalValue(name, String.class);
    }

    @Override
    public int ordinal(String name) {
        return config.get().getConfigValue(name).getSourceOrdinal();
    }

    @Override
    public String source(String name) {
        return String.valueOf(config.get().getConfigValue(name).getSourceName());
    }
}
