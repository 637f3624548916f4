// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis;

import io.weir.nemesis.check.Checker;
import io.weir.nemesis.check.Violation;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.HistoryFile;
import io.weir.nemesis.run.Run;
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
import java.util.stream.Collectors;

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
              --time 2m         the time in which faults begin, as 90s, 2m or 1h
              --instances 3     the number of instances, from 2 to 5
              --faults a,b      the faults; all by default
              --single          one fault at a time
              --each            one run with each fault, each of the whole time
              --folder F        the folder of histories and logs; target/nemesis by default
              --table F         the page that receives the table of results, between its two comments
              --check F         checks a history that was written before, and runs nothing
            Faults:
            """;

    private Nemesis() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws IOException {
        System.exit(run(arguments));
    }

    /** Runs the program and returns its status. */
    static int run(String... arguments) throws IOException {
        Map<String, String> options = options(arguments);
        if (options.containsKey("--help")) {
            System.out.println(USAGE + String.join(", ", Run.allTroubles()));
            return 2;
        }
        if (options.containsKey("--check")) {
            return report(HistoryFile.read(Path.of(options.get("--check")), Run.policies()), new Results()) ? 0 : 1;
        }
        long seed =
                options.containsKey("--seed") ? Long.parseLong(options.get("--seed")) : new Random().nextInt(1_000_000);
        // Redis has another working directory.
        Path folder =
                Path.of(options.getOrDefault("--folder", "target/nemesis")).toAbsolutePath();
        List<String> faults = faults(options);
        List<List<String>> selections = new ArrayList<>();
        if (options.containsKey("--each")) {
            faults.forEach(fault -> selections.add(List.of(fault)));
        } else {
            selections.add(faults);
        }
        Results results = new Results();
        boolean holds = true;
        for (List<String> selection : selections) {
            Run run = new Run(
                    seed,
                    Integer.parseInt(options.getOrDefault("--instances", "3")),
                    Duration.parse("PT" + options.getOrDefault("--time", "2m")),
                    selection,
                    !options.containsKey("--single"),
                    Run.RECOVERY);
            Path of = Files.createDirectories(folder.resolve("seed-" + seed + "-" + selection.get(0)));
            History history = run.execute(of);
            HistoryFile.write(history, of.resolve("history.txt"));
            holds &= report(history, results);
        }
        results.table().forEach(System.out::println);
        if (options.containsKey("--table")) {
            options.put("--seed", String.valueOf(seed));
            results.writeInto(Path.of(options.get("--table")), COMMAND + text(options) + '"');
        }
        return holds ? 0 : 1;
    }

    private static List<String> faults(Map<String, String> options) {
        List<String> faults =
                new ArrayList<>(List.of(options.getOrDefault("--faults", String.join(",", Run.allTroubles()))
                        .split(",")));
        if (!Run.allTroubles().containsAll(faults)) {
            throw new IllegalArgumentException("unknown fault in " + faults + "; faults: " + Run.allTroubles());
        }
        List<String> missing = Run.missingTroubles();
        if (faults.removeAll(missing)) {
            System.out.println("SKIPPED without the package faketime: " + String.join(", ", missing));
        }
        return faults;
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
                .filter(option -> !Set.of("--table", "--folder").contains(option.getKey()))
                .map(option -> (option.getKey() + " " + option.getValue()).strip())
                .collect(Collectors.joining(" "));
    }

    /** Prints the violations, and returns whether there are none. */
    private static boolean report(History history, Results results) {
        List<Violation> violations = Checker.check(history);
        results.add(history, violations);
        System.out.printf(
                "seed %d: %d operations, %d faults, %d violations%n",
                history.seed(), history.operations().size(), history.faults().size(), violations.size());
        for (Violation violation : violations) {
            System.out.println("VIOLATION of \"" + violation.promise() + "\": " + violation.reason());
            System.out.println("  " + violation.operation().describe(history.start()));
            long at = violation.operation().start();
            history.faults().stream()
                    .filter(fault -> fault.overlaps(at - Duration.ofSeconds(70).toNanos(), at))
                    .map(fault -> "  " + fault.describe(history.start()))
                    .forEach(System.out::println);
        }
        return violations.isEmpty();
    }
}
