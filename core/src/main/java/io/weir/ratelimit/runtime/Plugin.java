// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.operations.RepeatedTask;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.List;
import java.util.Set;

/** An optional part of a {@link Weir}. A host finds it as an object of the application. */
public interface Plugin {
    /**
     * Returns the properties of the plug-in, which no other part reads.
     *
     * @return the full names, which begin with {@code ratelimit.}
     */
    default Set<String> properties() {
        return Set.of();
    }

    /**
     * Checks the configuration. The problems are reported with all others.
     *
     * @param config the configuration
     * @return the problems
     */
    default List<ConfigurationProblem> problems(ConfigProperties config) {
        return List.of();
    }

    /**
     * Returns the configuration with the layer of the plug-in over it. It is called at the start and at each reload.
     *
     * @param config the configuration
     * @return the same properties, or others that precede them
     */
    default ConfigProperties over(ConfigProperties config) {
        return config;
    }

    /**
     * Returns the listeners of decisions.
     *
     * @return the listeners
     */
    default List<DecisionListener> listeners() {
        return List.of();
    }

    /**
     * Returns the tasks that are repeated while the application runs.
     *
     * @return the tasks
     */
    default List<RepeatedTask> tasks() {
        return List.of();
    }
}
