// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Collects all that is wrong with a deployment, so that it is reported at once. */
public final class Problems {
    private final List<ConfigurationProblem> found = new ArrayList<>();

    /**
     * Adds a problem.
     *
     * @param id the message's number
     * @param place the property, or the class and method
     * @param value what was found there; empty if nothing, {@code ***} for a secret
     * @param problem what is wrong
     * @param remedy what to write instead
     */
    public void add(String id, String place, String value, String problem, String remedy) {
        found.add(new ConfigurationProblem(id, place, value, problem, remedy));
    }

    /**
     * Adds problems.
     *
     * @param problems the problems
     */
    public void addAll(Collection<ConfigurationProblem> problems) {
        found.addAll(problems);
    }

    /**
     * What was found so far.
     *
     * @return the problems in the order they were found
     */
    public List<ConfigurationProblem> found() {
        return List.copyOf(found);
    }

    /**
     * The message of the failed deployment: one line per problem.
     *
     * @return the text
     */
    public String message() {
        return "WEIR-100 rate limits are configured wrongly:\n" + lines();
    }

    /**
     * All that was found, each problem once.
     *
     * @return the text, one line per problem
     */
    public String lines() {
        return found.stream()
                .distinct()
                .map(problem -> "  " + problem.toString().replaceAll("\\p{Cntrl}", " "))
                .collect(Collectors.joining("\n"));
    }
}
