// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.List;
import java.util.stream.Collectors;

/** An exception for a change that is not valid. */
public final class InvalidChangeException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient List<ConfigurationProblem> problems;

    /** Creates an exception with one problem or more. */
    public InvalidChangeException(List<ConfigurationProblem> problems) {
        super(problems.stream().map(ConfigurationProblem::toString).collect(Collectors.joining("\n")));
        this.problems = List.copyOf(problems);
    }

    /** Returns the problems, at least one. */
    public List<ConfigurationProblem> problems() {
        return problems;
    }
}
