// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The sources of a platform with the layers of plug-ins over them. */
record LayeredSources(ConfigProperties.Sources platform, List<Plugin> plugins) implements ConfigProperties.Sources {
    @Override
    public ConfigProperties first() {
        return layered(platform.first());
    }

    @Override
    public ConfigProperties get() {
        return layered(platform.get());
    }

    @Override
    public Optional<String> difference() {
        return platform.difference();
    }

    @Override
    public Set<String> withoutNames() {
        return platform.withoutNames();
    }

    private ConfigProperties layered(ConfigProperties config) {
        ConfigProperties layered = config;
        for (Plugin plugin : plugins) {
            layered = new WithoutNames(plugin.over(layered), unknown(plugin));
        }
        return layered;
    }

    private static Set<String> unknown(Plugin plugin) {
        Set<String> names = new TreeSet<>(plugin.properties());
        names.removeIf(name -> ConfigKeys.artifact(name).isPresent());
        return names;
    }

    /** Properties that do not list those of a plug-in, because the parts that check the names do not know them. */
    private record WithoutNames(ConfigProperties config, Set<String> hidden) implements ConfigProperties {
        @Override
        public ConfigProperties.Property get(String name) {
            return config.get(name);
        }

        @Override
        public String source(String name) {
            return config.source(name);
        }

        @Override
        public int ordinal(String name) {
            return config.ordinal(name);
        }

        @Override
        public Set<String> names() {
            Set<String> names = new TreeSet<>(config.names());
            names.removeAll(hidden);
            return names;
        }

        @Override
        public List<ConfigurationProblem> problems() {
            return config.problems();
        }
    }
}
