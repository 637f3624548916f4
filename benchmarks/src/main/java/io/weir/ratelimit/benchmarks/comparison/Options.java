// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.benchmarks.report.Trial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The options of a run.
 *
 * @param scenarios the names of scenarios, or prefixes of names
 * @param algorithms the algorithms of Weir; each is a separate contender
 * @param contenders prefixes of the names of contenders, in lower case; the floor is always included
 * @param rounds the number of measured rounds
 * @param warmUps the number of rounds before them
 * @param seconds the duration of a measured turn, which follows an unmeasured run of a third of it
 * @param deadline the longest time of a call that does not fail; Weir ends a call then, and a late decision of another contender is a
 *     failure
 * @param cluster the masters of the cluster of the cluster scenarios; empty for a new one
 */
public record Options(
        List<String> scenarios,
        List<Algorithm> algorithms,
        List<String> contenders,
        int rounds,
        int warmUps,
        double seconds,
        Duration deadline,
        List<String> cluster) {

    /** The description of the arguments. */
    public static final String USAGE =
            """
            Arguments: [quick] [--scenarios many-1,hot] [--algorithms sliding-window,token-bucket] [--contenders weir,bucket4j]
                       [--rounds 9] [--seconds 0.3] [--deadline 100] [--cluster host:port,host:port,host:port]
            A scenario is a full name or a prefix of names. The scenarios are:\s""" + String.join(" ", Scenario.ALL.stream().map(Scenario::name).toList()) + """

            The deadline is in milliseconds. The masters of the cluster must not have other users during the run.
            """;

    private static final List<Algorithm> VERIFIABLE =
            List.of(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_WINDOW, Algorithm.TOKEN_BUCKET, Algorithm.LEAKY_BUCKET);

    /**
     * Parses the command line.
     *
     * @throws IllegalArgumentException if an argument is invalid
     */
    public static Options parse(String... arguments) {
        List<String> rest = new ArrayList<>(List.of(arguments));
        boolean quick = rest.remove("quick");
        List<String> scenarios = quick ? Scenario.QUICK : List.of("");
        List<Algorithm> algorithms = List.of(Algorithm.SLIDING_WINDOW);
        List<String> contenders = List.of("");
        List<String> cluster = List.of();
        int rounds = Trial.or(quick ? 5 : 9, 1);
        double seconds = Trial.or(quick ? 0.2 : 0.3, 0.03);
        if (rest.size() % 2 != 0) {
            throw new IllegalArgumentException("an argument without a value among " + rest);
        }
        Duration deadline = Duration.ofMillis(100);
        for (int i = 0; i < rest.size(); i += 2) {
            String value = rest.get(i + 1);
            switch (rest.get(i)) {
                case "--scenarios" -> scenarios = existing(list(value));
                case "--algorithms" ->
                    algorithms = list(value).stream().map(Options::algorithm).toList();
                case "--contenders" -> contenders = list(value.toLowerCase(Locale.ROOT));
                case "--rounds" -> rounds = positive(Integer.parseInt(value));
                case "--seconds" -> seconds = Double.parseDouble(value);
                case "--deadline" -> deadline = Duration.ofMillis(positive(Integer.parseInt(value)));
                case "--cluster" ->
                    cluster = list(value).stream()
                            .map(address -> address.contains("://") ? address : "redis://" + address)
                            .toList();
                default -> throw new IllegalArgumentException("unknown argument " + rest.get(i));
            }
        }
        return new Options(scenarios, algorithms, contenders, rounds, quick ? 1 : 2, seconds, deadline, cluster);
    }

    private static List<String> list(String value) {
        return List.of(value.split(","));
    }

    private static int positive(int value) {
        if (value < 1) {
            throw new IllegalArgumentException("rounds and deadline must be at least 1");
        }
        return value;
    }

    private static List<String> existing(List<String> prefixes) {
        for (String prefix : prefixes) {
            if (Scenario.ALL.stream().noneMatch(scenario -> scenario.name().startsWith(prefix))) {
                throw new IllegalArgumentException("no scenario begins with " + prefix);
            }
        }
        return prefixes;
    }

    private static Algorithm algorithm(String name) {
        return VERIFIABLE.stream()
                .filter(algorithm -> algorithm.configName().equals(name))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException("the permits of this algorithm cannot be verified: " + name));
    }

    /** Returns the selected scenarios in their defined order. */
    List<Scenario> selected() {
        return Scenario.ALL.stream()
                .filter(scenario -> scenarios.stream().anyMatch(named -> matches(named, scenario)))
                .toList();
    }

    /** Returns whether a name selects a scenario. A full name is not a prefix: {@code many-1} does not select {@code many-16}. */
    private static boolean matches(String named, Scenario scenario) {
        boolean fullName = Scenario.ALL.stream().anyMatch(any -> any.name().equals(named));
        return fullName ? scenario.name().equals(named) : scenario.name().startsWith(named);
    }

    /** Returns whether a contender is selected. */
    boolean includes(String name) {
        return contenders.stream().anyMatch(name.toLowerCase(Locale.ROOT)::startsWith);
    }
}
