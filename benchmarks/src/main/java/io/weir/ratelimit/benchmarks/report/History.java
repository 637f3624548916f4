// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The figures of a part in its last run of each of two days, as a file in {@code docs/figures}. */
final class History {
    private static final String HEADER = "date,commit,low,middle,high,name";
    private static final int DAYS = 2;

    private final Path file;
    private final TreeMap<LocalDate, Run> runs = new TreeMap<>();

    /**
     * A run of a part.
     *
     * @param date the day
     * @param commit the measured commit
     * @param figures the figures in the order of the run
     */
    record Run(LocalDate date, String commit, List<Figure> figures) {
        /** Returns the commit and the day. */
        String origin() {
            return "`" + commit + "`, " + date;
        }

        /** Returns the first figure whose name begins with a text. */
        Optional<Figure> find(String name) {
            return figures.stream()
                    .filter(figure -> figure.name().startsWith(name))
                    .findFirst();
        }
    }

    private History(Path file) {
        this.file = file;
    }

    /** Reads the figures of a part. */
    static History of(Path root, String part) throws IOException {
        History history = new History(root.resolve("docs/figures").resolve(part + ".csv"));
        if (Files.exists(history.file)) {
            List<String> lines = Files.readAllLines(history.file);
            for (String line : lines.subList(1, lines.size())) {
                String[] parts = line.split(",", 3);
                history.runs
                        .computeIfAbsent(LocalDate.parse(parts[0]), date -> new Run(date, parts[1], new ArrayList<>()))
                        .figures()
                        .add(Figure.of(parts[2]));
            }
        }
        return history;
    }

    /** Adds a run, which replaces an earlier one of the same day, and writes the file. */
    void add(Run run) throws IOException {
        runs.put(run.date(), run);
        while (runs.size() > DAYS) {
            runs.pollFirstEntry();
        }
        List<String> lines = new ArrayList<>(List.of(HEADER));
        runs.values()
                .forEach(each -> each.figures()
                        .forEach(figure -> lines.add(each.date() + "," + each.commit() + "," + figure.text())));
        Files.createDirectories(file.getParent());
        Files.write(file, lines);
    }

    /** Returns the runs, the oldest first. */
    List<Run> runs() {
        return List.copyOf(runs.values());
    }

    /** Returns the last run; empty before the first one. */
    Optional<Run> last() {
        return Optional.ofNullable(runs.lastEntry()).map(Map.Entry::getValue);
    }
}
