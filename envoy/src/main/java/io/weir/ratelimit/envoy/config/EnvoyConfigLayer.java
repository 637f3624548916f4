// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy.config;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigProperty;
import io.weir.ratelimit.core.config.ValueForm;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The policies of configuration files below the properties of the program, which take precedence. Files with a problem have no effect, and
 * what was read before stays in force.
 */
public final class EnvoyConfigLayer {
    private volatile EnvoyConfig config = EnvoyConfig.NONE;

    /** Creates a layer without files. */
    public EnvoyConfigLayer() {}

    /** Returns the files that were read last without a problem. */
    public EnvoyConfig config() {
        return config;
    }

    /** Reads the files that a configuration names, and returns the configuration with their policies. */
    public ConfigProperties over(ConfigProperties properties) {
        List<Path> files = ValueForm.split(
                        properties.get(ConfigKeys.ENVOY_CONFIG.name()).value().orElse(""))
                .stream()
                .map(Path::of)
                .toList();
        EnvoyConfigReader reader = new EnvoyConfigReader();
        EnvoyConfig read = reader.read(files);
        List<ConfigurationProblem> problems = reader.problems();
        if (problems.isEmpty()) {
            config = read;
        }
        return new Layer(properties, config, problems);
    }

    private record Layer(ConfigProperties program, EnvoyConfig files, List<ConfigurationProblem> ofFiles)
            implements ConfigProperties {
        private boolean isOfFiles(String name) {
            return files.properties().containsKey(name) && program.get(name).equals(ConfigProperty.ABSENT);
        }

        @Override
        public ConfigProperty get(String name) {
            return isOfFiles(name) ? ConfigProperty.of(files.properties().getOrDefault(name, "")) : program.get(name);
        }

        @Override
        public String source(String name) {
            return isOfFiles(name) ? files.sources().getOrDefault(name, "") : program.source(name);
        }

        @Override
        public int ordinal(String name) {
            return isOfFiles(name) ? 0 : program.ordinal(name);
        }

        @Override
        public Set<String> names() {
            Set<String> names = new TreeSet<>(program.names());
            names.addAll(files.properties().keySet());
            return names;
        }

        @Override
        public List<ConfigurationProblem> problems() {
            List<ConfigurationProblem> all = new ArrayList<>(program.problems());
            all.addAll(ofFiles);
            return all;
        }
    }
}
