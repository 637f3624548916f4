// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Values over the configuration, such as those of runtime changes. Where they are invalid, the configuration applies. */
public interface ValueLayer {
    /** Tests whether the configuration applies as it is, without values. */
    boolean isEmpty();

    /** Lays the values over a configuration, except those of policies that do not exist without the values. */
    ConfigProperties over(ConfigProperties config, Set<String> policies);

    /** The limits of one key as text, which are checked like those of its policy; the number identifies them in the result. */
    record KeyValues(long number, String policy, Map<String, String> values, ValueLayer layer) {
        /** Copies the map, in the order of the attributes. */
        public KeyValues {
            values = Collections.unmodifiableMap(new TreeMap<>(values));
        }
    }

    /**
     * The result of a check of values over the configuration.
     *
     * @param policies those of single policies, by name; another state of these policies applies
     * @param overrides the problems of the limits of single keys, by the number of the change
     */
    record Findings(
            List<ConfigurationProblem> all,
            Map<String, List<ConfigurationProblem>> policies,
            Map<Long, List<ConfigurationProblem>> overrides) {
        public Findings {
            all = List.copyOf(all);
            policies = Map.copyOf(policies);
            overrides = Map.copyOf(overrides);
        }
    }
}
