// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import java.util.Optional;

/** The costs that the configuration sets for methods. */
public final class MethodCosts {
    static final String PREFIX = "ratelimit.costs.";

    private MethodCosts() {}

    /**
     * Reads the cost of a method.
     *
     * @param config the configuration
     * @param endpoint {@code Class.method}
     * @param problems collects the problems
     * @return the cost, 1 or more, if the configuration sets one
     */
    public static Optional<Long> read(ConfigProperties config, String endpoint, Problems problems) {
        ConfigReader reader = new ConfigReader(config, problems);
        // Servers map no environment variable to a name that ends with a quote, so the name without quotes is first.
        return reader.optional(PREFIX + endpoint, ConfigKeys.METHOD_COST.form())
                .or(() -> reader.optional(PREFIX + '"' + endpoint + '"', ConfigKeys.METHOD_COST.form()));
    }
}
