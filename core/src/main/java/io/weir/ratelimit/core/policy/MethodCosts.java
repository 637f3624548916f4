// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import java.util.List;
import java.util.Optional;

/** The costs that the configuration sets for methods. */
public final class MethodCosts {
    static final String PREFIX = "ratelimit.costs.";

    private MethodCosts() {}

    /** Reads the cost of a method, 1 or more, if the configuration sets one. The name with the most details applies. */
    public static Optional<Long> read(ConfigProperties config, MethodLimits.Name method, Problems problems) {
        return property(config, method)
                .flatMap(name -> new ConfigReader(config, problems).optional(name, ConfigKeys.METHOD_COST.form()));
    }

    /** Returns the property with the cost of a method. */
    static Optional<String> property(ConfigProperties config, MethodLimits.Name method) {
        int last = method.forms().indexOf(method.text());
        for (int i = method.forms().size() - 1; i >= 0; i--) {
            String form = method.forms().get(i);
            // Servers map no environment variable to a name that ends with a quote, so the name without quotes is
            // first.
            for (String name : List.of(PREFIX + form, PREFIX + '"' + form + '"')) {
                // A form with more details than necessary is not looked up in sources that do not list it.
                if (i <= last
                        ? !config.get(name).equals(ConfigProperties.Property.ABSENT)
                        : config.names().contains(name)) {
                    return Optional.of(name);
                }
            }
        }
        return Optional.empty();
    }
}
