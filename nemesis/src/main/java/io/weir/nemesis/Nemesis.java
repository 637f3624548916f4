// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis;

import io.weir.nemesis.check.Checker;
import io.weir.nemesis.check.Violation;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.HistoryFile;
import io.weir.nemesis.run.Run;
import io.weir.nemesis.run.Topology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The program: calls of several instances under faults, whose history is checked. It ends with the status 1 if the history contradicts a
 * promise.
 */
public final class Nemesis {
    private static final String COMMAND =
            "mvn -B -ntp test -pl nemesis -Dgroups=nemesis -DexcludedGroups=never -Dweir.nemesis.arguments=\"";

    private static final String USAGE = """
            Arguments, all optional:
              --seed N          the seed; a random one by default
              --time 2m         the time in which faults begin, as 90s, 2m or 1h; more than 5m times the pace, or more than 20m, are several runs with successive seeds
              --instances 3     the number of instances, from 2 to 5
              --http 0          how many of them are called over HTTP
              --redis single    the servers of Redis: single, sentinel or cluster; by default those of the faults
              --faults a,b      the faults; by default all that are possible on the servers
              --single          one fault at a time
              --pace 1          by how much the pauses between calls are longer, for many runs at the same time
              --each            one run with each fault, each of the whole time
              --parallel 1      how many runs at the same time, each with a part of a processor and the memory of its history; see --pace
              --folder F        the folder of histories and logs; target/nemesis by default
              --table F         the page that receives the table of results, between its two comments; rows of other faults stay
              --check F         checks the histories of a file or a folder, and runs nothing; other arguments are those of their runs
            Faults:
            """;

    /** The history of a longer run needs too much memory: a longer time is that of several runs, whose seeds follow each other. */
    private static final Duration LONGEST = Duration.ofMinutes(5);

    /** With shorter runs, those at the same time end nearly together. */
    private static final int MOST_PACE = 4;

    private Nemesis() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws IOException {
        System.exit(run(System.out::println, arguments));
    }

    /** Runs the program, prints its lines and returns its status. */
    static int run(Consumer<String> printer, String... arguments) throws IOException {
        Map<String, String> options = options(arguments);
        if (options.containsKey("--help")) {
            printer.accept(USAGE + String.join(", ", Run.allTroubles()));
            return 2;
        }
        if (options.containsKey("--check")) {
            Results results = new Results();
            boolean holds = check(Path.of(options.get("--check")), results, printer);
            write(results, options, printer);
            return holds ? 0 : 1;
        }
        long seed =
                options.containsKey("--seed") ? Long.parseLong(options.get("--seed")) : new Random().nextInt(1_000_000);
        // Redis has another working directory.
        Path folder =
                Path.of(options.getOrDefault("--folder", "target/nemesis")).toAbsolutePath();
        List<String> faults = faults(options, printer);
        List<List<String>> selections = new ArrayList<>();
        if (options.containsKey("--each")) {
            faults.forEach(fault -> selections.add(List.of(fault)));
        } else {
            selections.add(faults);
        }
        int pace = Math.max(1, Integer.parseInt(options.getOrDefault("--pace", "1")));
        List<Duration> parts = parts(Duration.parse("PT" + options.getOrDefault("--time", "2m")), pace);
        List<Run> runs = new ArrayList<>();
        for (int part = 0; part < parts.size(); part++) {
            for (List<String> selection : selections) {
                runs.add(new Run(
                        seed + part,
                        Integer.parseInt(options.getOrDefault("--instances", "3")),
                        Integer.parseInt(options.getOrDefault("--http", "0")),
                        topology(options, selection),
                        parts.get(part),
                        selection,
                        !options.containsKey("--single"),
                        Run.RECOVERY,
                        pace));
            }
        }
        Results results = new Results();
        int limit = Math.max(1, Integer.parseInt(options.getOrDefault("--parallel", "1")));
        ParallelRuns parallel = new ParallelRuns(limit, folder, printer);
        boolean holds = parallel.run(runs, history -> report(history, results, printer));
        options.put("--seed", String.valueOf(seed));
        if (parallel.hasFailed()) {
            options.remove("--table"); // a run without a history would be missing in it
        }
        write(results, options, printer);
        return holds ? 0 : 1;
    }

    /** Checks a history, or all histories below a folder. */
    private static boolean check(Path path, Results results, Consumer<String> printer) throws IOException {
        List<Path> files;
        try (Stream<Path> found = Files.walk(path)) {
            files = found.filter(
                            file -> file.equals(path) ? Files.isRegularFile(file) : file.endsWith(ParallelRuns.HISTORY))
                    .sorted()
                    .toList();
        }
        boolean holds = !files.isEmpty();
        for (Path file : files) {
            holds &= report(HistoryFile.read(file, Run.policies()), results, printer);
        }
        return holds;
    }

    private static void write(Results results, Map<String, String> options, Consumer<String> printer)
            throws IOException {
        results.table().forEach(printer);
        if (options.containsKey("--table")) {
            results.writeInto(Path.of(options.get("--table")), COMMAND + text(options) + '"');
        }
    }

    private static List<String> faults(Map<String, String> options, Consumer<String> printer) {
        String byDefault = String.join(
                ",",
                options.containsKey("--each") && !options.containsKey("--redis")
                        ? Run.allTroubles()
                        : Run.troubles(Topology.named(options.getOrDefault("--redis", "single"))));
        List<String> faults = new ArrayList<>(
                List.of(options.getOrDefault("--faults", byDefault).split(",")));
        List<String> missing = Run.missingTroubles();
        if (faults.removeAll(missing)) {
            printer.accept("SKIPPED without the package faketime: " + String.join(", ", missing));
        }
        if (faults.isEmpty()) {
            throw new IllegalArgumentException(
                    "No fault is left. Install the package faketime, or select other faults.");
        }
        return faults;
    }

    /** Returns the given topology, or the first one on which all faults are possible. */
    private static Topology topology(Map<String, String> options, List<String> faults) {
        return Stream.of(Topology.values())
                .filter(topology -> topology.name().equalsIgnoreCase(options.getOrDefault("--redis", topology.name())))
                .filter(topology -> Run.troubles(topology).containsAll(faults))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        faults + " are not possible on one topology; faults: " + Run.allTroubles()));
    }

    /** Divides a time into the lengths of runs. With fewer calls, a run can be longer. */
    static List<Duration> parts(Duration time, int pace) {
        Duration longest = LONGEST.multipliedBy(Math.min(pace, MOST_PACE));
        List<Duration> parts = new ArrayList<>();
        for (Duration left = time; left.compareTo(Duration.ZERO) > 0; left = left.minus(longest)) {
            parts.add(left.compareTo(longest) < 0 ? left : longest);
        }
        return parts;
    }

    private static Map<String, String> options(String... arguments) {
        Map<String, String> options = new TreeMap<>();
        for (int i = 0; i < arguments.length; i++) {
            boolean hasValue = i + 1 < arguments.length && !arguments[i + 1].startsWith("--");
            options.put(arguments[i], hasValue ? arguments[++i] : "");
        }
        return options;
    }

    private static String text(Map<String, String> options) {
        return options.entrySet().stream()
                .filter(option -> !Set.of("--table", "--folder", "--check").contains(option.getKey()))
                .map(option -> (option.getKey() + " " + option.getValue()).strip())
                .collect(Collectors.joining(" "));
    }

    /** Prints the violations, and returns whether there are none. */
    private static boolean report(History history, Results results, Consumer<String> printer) {
        List<Violation> violations = Checker.check(history);
        results.add(history, violations);
        printer.accept(String.format(
                "seed %d: %d operations, %d faults, %d violations",
                history.seed(), history.operations().size(), history.faults().size(), violations.size()));
        for (Violation violation : violations) {
            printer.accept("VIOLATION of \"" + violation.promise() + "\": " + violation.reason());
            printer.accept("  " + violation.operation().describe(history.start()));
            long at = violation.operation().start();
            history.faults().stream()
                    .filter(fault -> fault.overlaps(at - Duration.ofSeconds(70).toNanos(), at))
                    .map(fault -> "  " + fault.describe(history.start()))
                    .forEach(printer);
        }
        return violations.isEmpty();
    }
}
