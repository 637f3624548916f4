// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.List;

/** The configuration of a {@link Weir} is invalid. The message has one line for each problem. */
public final class InvalidConfigurationException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    private final transient List<ConfigurationProblem> problems;

    InvalidConfigurationException(Problems problems) {
        super(problems.message());
        this.problems = problems.found();
    }

    /**
     * Returns all problems.
     *
     * @return the problems in the order in which they were found
     */
    public List<ConfigurationProblem> problems() {
        return problems;
    }
}
