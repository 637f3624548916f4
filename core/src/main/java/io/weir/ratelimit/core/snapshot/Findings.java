// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.List;
import java.util.Map;

/**
 * The result of a check of values over the configuration.
 *
 * @param policies those of single policies, by name; another state of these policies applies
 * @param overrides the problems of the limits of single keys, by the number of the change
 */
public record Findings(
        List<ConfigurationProblem> all,
        Map<String, List<ConfigurationProblem>> policies,
        Map<Long, List<ConfigurationProblem>> overrides) {
    /** Copies the collections. */
    public Findings {
        all = List.copyOf(all);
        policies = Map.copyOf(policies);
        overrides = Map.copyOf(overrides);
    }
}
