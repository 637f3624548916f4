// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.Algorithm;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What a run is asked to do.
 *
 * @param scenarios names of scenarios, or beginnings of names that name all with that beginning
 * @param algorithms how Weir's limits count: a contender for each
 * @param contenders beginnings of the names of contenders, in lower case; the floor is always among them
 * @param rounds rounds that count
 * @param warmUps rounds before them that do not
 * @param seconds length of a turn that counts; before it the contender runs unmeasured for a third of that
 * @param cluster the masters of a cluster; empty for a Redis of one's own
 */
public record Options(
        List<String> scenarios,
        List<Algorithm> algorithms,
        List<String> contenders,
        int rounds,
        int warmUps,
        double seconds,
        List<String> cluster) {

    /** How to call the program. */
    public static final String USAGE =
            """
            Arguments: [quick] [--scenarios many-1,hot] [--algorithms sliding-window,token-bucket] [--contenders weir,bucket4j]
                       [--rounds 9] [--seconds 0.3] [--cluster host:port,host:port,host:port]
            A scenario is named in full, or several by how their names begin; there are:\s""" + String.join(" ", Scenario.ALL.stream().map(Scenario::name).toList()) + """

            A cluster is named by all its masters; nobody else may use it meanwhile.
            """;

    private static final List<Algorithm> COUNTABLE =
            List.of(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_WINDOW, Algorithm.TOKEN_BUCKET, Algorithm.LEAKY_BUCKET);

    /**
     * Reads the command line.
     *
     * @throws IllegalArgumentException if it is not understood
     */
    public static Options parse(String... arguments) {
        List<String> left = new ArrayList<>(List.of(arguments));
        boolean quick = left.remove("quick");
        List<String> scenarios = quick ? Scenario.QUICK : List.of("");
        List<Algorithm> algorithms = List.of(Algorithm.SLIDING_WINDOW);
        List<String> contenders = List.of("");
        List<String> cluster = List.of();
        int rounds = quick ? 3 : 9;
        double seconds = quick ? 0.2 : 0.3;
        if (left.size() % 2 != 0) {
            throw new IllegalArgumentException("an argument without a value among " + left);
        }
        for (int i = 0; i < left.size(); i += 2) {
            String value = left.get(i + 1);
            switch (left.get(i)) {
                case "--scenarios" -> scenarios = known(list(value));
                case "--algorithms" ->
                    algorithms = list(value).stream().map(Options::algorithm).toList();
                case "--contenders" -> contenders = list(value.toLowerCase(Locale.ROOT));
                case "--rounds" -> rounds = positive(Integer.parseInt(value));
                case "--seconds" -> seconds = Double.parseDouble(value);
                case "--cluster" ->
                    cluster = list(value).stream()
                            .map(address -> address.contains("://") ? address : "redis://" + address)
                            .toList();
                default -> throw new IllegalArgumentException("unknown argument " + left.get(i));
            }
        }
        return new Options(scenarios, algorithms, contenders, rounds, quick ? 1 : 2, seconds, cluster);
    }

    private static List<String> list(String value) {
        return List.of(value.split(","));
    }

    private static int positive(int value) {
        if (value < 1) {
            throw new IllegalArgumentException("at least one round");
        }
        return value;
    }

    private static List<String> known(List<String> beginnings) {
        for (String beginning : beginnings) {
            if (Scenario.ALL.stream().noneMatch(scenario -> scenario.name().startsWith(beginning))) {
                throw new IllegalArgumentException("no scenario begins with " + beginning);
            }
        }
        return beginnings;
    }

    private static Algorithm algorithm(String name) {
        return COUNTABLE.stream()
                .filter(algorithm -> algorithm.configName().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no limit that is never reached with " + name));
    }

    /** The scenarios to run, in their own order. */
    List<Scenario> chosen() {
        return Scenario.ALL.stream()
                .filter(scenario -> scenarios.stream().anyMatch(named -> names(named, scenario)))
                .toList();
    }

    /** A whole name is not the beginning of another: {@code many-1} is not {@code many-16}. */
    private static boolean names(String named, Scenario scenario) {
        boolean whole = Scenario.ALL.stream().anyMatch(any -> any.name().equals(named));
        return whole ? scenario.name().equals(named) : scenario.name().startsWith(named);
    }

    /** Whether a contender is to run. */
    boolean wants(String name) {
        return contenders.stream().anyMatch(name.toLowerCase(Locale.ROOT)::startsWith);
    }
}
