// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Properties that keep the value and the source of their first look-up, for a comparison with a later state of the configuration. */
public final class ConfigSnapshot implements ConfigProperties {
    private final ConfigProperties config;
    private final Set<String> names;
    private final List<ConfigurationProblem> problems;
    private final Map<String, ConfigProperties.Property> known = new ConcurrentHashMap<>();
    private final Map<String, String> sources = new ConcurrentHashMap<>();

    /** Creates a snapshot with the names of the properties. Values are added at their first look-up. Exceptions are not caught. */
    public ConfigSnapshot(ConfigProperties config) {
        this.config = config;
        this.names = config.names();
        this.problems = List.copyOf(config.problems());
    }

    /** Tests whether another configuration has the names, the values and the problems of this snapshot. Exceptions are not caught. */
    public boolean isSameIn(ConfigProperties other) {
        return other.names().equals(names)
                && other.problems().equals(problems)
                && known.entrySet().stream()
                        .allMatch(property -> other.get(property.getKey()).equals(property.getValue()));
    }

    @Override
    public ConfigProperties.Property get(String name) {
        ConfigProperties.Property property = known.get(name);
        return property != null ? property : known.computeIfAbsent(name, config::get);
    }

    @Override
    public String source(String name) {
        String source = sources.get(name);
        return source != null ? source : sources.computeIfAbsent(name, config::source);
    }

    @Override
    public Set<String> names() {
        return names;
    }

    @Override
    public List<ConfigurationProblem> problems() {
        return problems;
    }
}
