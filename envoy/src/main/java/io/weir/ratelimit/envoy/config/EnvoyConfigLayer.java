// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy.config;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The policies of configuration files below the properties of the program, which take precedence. Files with a problem have no effect, and
 * what was read before stays in force.
 */
public final class EnvoyConfigLayer {
    private volatile EnvoyConfig config = EnvoyConfig.NONE;
    private volatile InForce inForce = new InForce(EnvoyConfig.NONE, Map.of(), EnvoyConfig.NONE);

    /**
     * The files that apply with some policies.
     *
     * @param read the files that were read last
     */
    private record InForce(EnvoyConfig read, Map<String, Policy> policies, EnvoyConfig config) {}

    /**
     * Returns the files that were read last without a problem, as soon as their policies are in force. A reload replaces the policies a
     * moment later, and a rule without its policy would limit nothing.
     *
     * @param policies the policies in force; a change replaces the map
     */
    @SuppressWarnings("ReferenceEquality") // a change replaces the object
    public EnvoyConfig config(Map<String, Policy> policies) {
        EnvoyConfig read = config;
        InForce known = inForce;
        if (known.read == read && known.policies == policies) {
            return known.config;
        }
        EnvoyConfig applied = policies.keySet().containsAll(read.policies()) ? read : known.config;
        inForce = new InForce(read, policies, applied);
        return applied;
    }

    /**
     * Reads the files that a configuration names, and returns the configuration with their policies. The policies of the rules in force
     * stay beside new ones, because a new policy can be invalid, and then these rules continue to apply.
     */
    public ConfigProperties over(ConfigProperties properties) {
        Problems found = new Problems();
        String names = new ConfigReader(properties, found)
                .text(ConfigKeys.ENVOY_CONFIG.name())
                .orElse("");
        EnvoyConfigReader reader = new EnvoyConfigReader();
        EnvoyConfig read =
                reader.read(ConfigReader.list(names).stream().map(Path::of).toList());
        found.addAll(reader.problems());
        List<ConfigurationProblem> problems = found.found();
        if (inForce.read.equals(EnvoyConfig.NONE)) {
            // No request has come since the start, which fails if a policy is invalid.
            inForce = new InForce(config, Map.of(), config);
        }
        if (problems.isEmpty()) {
            config = read;
        }
        EnvoyConfig rules = inForce.config;
        boolean addsPolicies = !rules.policies().containsAll(config.policies());
        return new Layer(properties, addsPolicies ? config.withPoliciesOf(rules) : config, problems);
    }

    private record Layer(ConfigProperties program, EnvoyConfig files, List<ConfigurationProblem> ofFiles)
            implements ConfigProperties {
        private boolean isOfFiles(String name) {
            return files.properties().containsKey(name) && program.get(name).equals(ConfigProperties.Property.ABSENT);
        }

        @Override
        public ConfigProperties.Property get(String name) {
            return isOfFiles(name)
                    ? ConfigProperties.Property.of(files.properties().getOrDefault(name, ""))
                    : program.get(name);
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
