// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The problems of a deployment, which are reported together, and equal ones once. */
public final class Problems {
    private final Set<ConfigurationProblem> found = new LinkedHashSet<>();

    public void add(ConfigurationProblem problem) {
        found.add(problem);
    }

    public void addAll(Collection<ConfigurationProblem> problems) {
        found.addAll(problems);
    }

    /** Returns the problems so far, in order. */
    public List<ConfigurationProblem> found() {
        return List.copyOf(found);
    }

    /** Returns the message of the failed deployment, with one line for each problem. */
    public String message() {
        return lines().stream()
                .map(line -> "\n  " + line)
                .collect(Collectors.joining("", MESSAGES.text("WEIR-100"), ""));
    }

    /** Returns one line for each problem. */
    public List<String> lines() {
        return found.stream()
                .map(problem -> problem.toString().replaceAll("\\p{Cntrl}", " "))
                .toList();
    }
}
