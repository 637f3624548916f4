// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis;

import io.weir.nemesis.check.Checker;
import io.weir.nemesis.check.Promise;
import io.weir.nemesis.check.Violation;
import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The results of runs as a table of faults and promises. */
final class Results {
    private static final String BEGIN = "<!-- nemesis -->";
    private static final String END = "<!-- /nemesis -->";

    /** An operation belongs to a fault, and a violation was caused by it, until this time after it. */
    private static final Duration AFTER = Duration.ofSeconds(5);

    /** A row of violations that no fault has caused. */
    private static final String NO_FAULT = "none";

    /** A command and the table of its runs. */
    private static final Pattern SECTION =
            Pattern.compile("```\\n(?<command>[^\\n]+)\\n```\\n\\n(?<table>(?:\\|[^\\n]*\\n)+)");

    private static final double NANOS_OF_MINUTE = 60e9;

    private final Map<String, Row> rows = new TreeMap<>();

    /** The numbers of one fault. */
    private static final class Row {
        long nanos;
        long slowNanos;
        long faults;
        long operations;
        final Set<Long> seeds = new TreeSet<>();
        final Map<String, Integer> violations = new TreeMap<>();
    }

    /** Adds the results of a run. */
    void add(History history, List<Violation> violations) {
        List<Fault> caused =
                history.faults().stream().filter(fault -> !fault.isSlow()).toList();
        caused.stream().collect(Collectors.groupingBy(Fault::name)).forEach((name, faults) -> {
            Row row = row(name);
            row.seeds.add(history.seed());
            row.nanos += history.time().to() - history.time().from();
            row.slowNanos += history.slowTime().toNanos();
            row.faults += faults.size();
            row.operations += history.operations().stream()
                    .filter(operation -> faults.stream().anyMatch(fault -> isOf(fault, operation)))
                    .count();
        });
        for (Violation violation : violations) {
            List<Fault> causes = caused.stream()
                    .filter(fault -> isOf(fault, violation.operation()))
                    .toList();
            List<String> names = causes.isEmpty()
                    ? List.of(NO_FAULT)
                    : causes.stream().map(Fault::name).distinct().toList();
            names.forEach(name -> row(name).violations.merge(violation.promise(), 1, Integer::sum));
        }
    }

    private Row row(String name) {
        return rows.computeIfAbsent(name, any -> new Row());
    }

    private static boolean isOf(Fault fault, Operation operation) {
        return fault.overlaps(operation.start() - AFTER.toNanos(), operation.end());
    }

    /** Returns the table. */
    List<String> table() {
        List<String> promises = Checker.PROMISES.stream().map(Promise::name).toList();
        List<String> lines = new ArrayList<>();
        lines.add("| nemesis | seeds | minutes | slow | faults | operations | " + String.join(" | ", promises) + " |");
        lines.add("|---".repeat(promises.size() + 6) + "|");
        rows.forEach((name, row) -> lines.add(String.format(
                Locale.ROOT,
                "%s %s | %.1f | %.1f %% | %,d | %,d | %s |",
                cell(name),
                row.seeds.stream().map(String::valueOf).collect(Collectors.joining(", ")),
                row.nanos / NANOS_OF_MINUTE,
                row.nanos == 0 ? 0.0 : 100.0 * row.slowNanos / row.nanos,
                row.faults,
                row.operations,
                promises.stream()
                        .map(promise -> String.valueOf(row.violations.getOrDefault(promise, 0)))
                        .collect(Collectors.joining(" | ")))));
        return lines;
    }

    /** Writes the table into a page, between its markers. Rows of other faults stay, below the command that measured them. */
    void writeInto(Path page, String command) throws IOException {
        String text = Files.readString(page);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IOException(page + " has no lines " + BEGIN + " and " + END);
        }
        List<String> sections = new ArrayList<>();
        Matcher former = SECTION.matcher(text.substring(begin, end));
        while (former.find()) {
            List<String> lines = former.group("table")
                    .lines()
                    .filter(line -> rows.keySet().stream()
                            .noneMatch(name -> !name.equals(NO_FAULT) && line.startsWith(cell(name))))
                    .toList();
            // Violations without a fault stay while a fault of their runs has a row.
            if (lines.stream().anyMatch(line -> line.startsWith("| `") && !line.startsWith(cell(NO_FAULT)))) {
                sections.add(section(former.group("command"), lines));
            }
        }
        sections.add(section(command, table()));
        String block = BEGIN + "\n" + String.join("\n", sections);
        Files.writeString(page, text.substring(0, begin) + block + text.substring(end));
    }

    private static String section(String command, List<String> table) {
        return "```\n" + command + "\n```\n\n" + String.join("\n", table) + "\n";
    }

    private static String cell(String name) {
        return "| `" + name + "` |";
    }
}
