// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A program that runs the programs of its parts, and writes their tables, figures and charts into the documents. */
public final class Report {
    /** The exit status of a program that cannot measure here. */
    public static final int SKIPPED = 77;

    private static final String TRIAL = "trial";
    private static final Path TRIALS = Path.of("benchmarks/target/trial");
    private static final String USAGE =
            """
            Arguments: [trial] [PART...], all parts without one. Run it in the root of the repository.
            "trial" measures for a short time, and writes to a copy of the documents in %s.
            "summary" measures nothing, and writes the goals, the claims and the charts again.
            The parts are: %s
            """.formatted(TRIALS, Parts.ALL.stream().map(Part::name).collect(Collectors.joining(" ")));

    private final boolean trial;
    private final Path root;
    private final Origin origin;
    private final List<Page> pages;

    private Report(boolean trial) throws IOException {
        this.trial = trial;
        this.root = trial ? copy() : Path.of("").toAbsolutePath();
        this.origin = Origin.of(Path.of("").toAbsolutePath(), jar());
        this.pages = Page.in(root);
    }

    /**
     * Runs parts of the report.
     *
     * @param arguments see the usage
     * @return the exit status: 0, 1 if a part failed or was skipped, or 2 for invalid arguments
     * @throws IOException if a document cannot be written
     */
    public static int run(List<String> arguments) throws IOException {
        List<String> names = new ArrayList<>(arguments);
        boolean trial = names.remove(TRIAL);
        boolean summaryOnly = names.remove(Summary.PART) && names.isEmpty();
        boolean all = names.isEmpty() && !summaryOnly;
        List<Part> parts = Parts.ALL.stream()
                .filter(part -> all || names.remove(part.name()))
                .toList();
        if (!names.isEmpty() || !Files.isDirectory(Path.of("docs"))) {
            names.forEach(name -> System.err.println("There is no part " + name + "."));
            System.err.println(USAGE);
            return 2;
        }
        return new Report(trial).run(parts, summaryOnly);
    }

    private int run(List<Part> parts, boolean summaryOnly) throws IOException {
        List<String> results = new ArrayList<>();
        boolean complete = true;
        for (Part part : parts) {
            System.err.println("== " + part.name());
            long start = System.nanoTime();
            String result = measure(part);
            complete &= result.equals("measured");
            results.add("%s: %s, %d s".formatted(part.name(), result, (System.nanoTime() - start) / 1_000_000_000));
        }
        new Summary(root, pages).write();
        if (!summaryOnly) {
            System.out.println("commit " + origin.commit() + ", " + origin.machine());
        }
        results.forEach(System.out::println);
        return complete ? 0 : 1;
    }

    /** Measures a part and writes its tables. A part that fails leaves the documents as they are. */
    private String measure(Part part) throws IOException {
        if (part.isMaven() && trial) {
            return "measured by Maven, not part of a trial";
        }
        if (part.output().isPresent()) {
            delete(part.output().get());
        }
        List<String> lines = new ArrayList<>();
        for (List<String> command : part.commands()) {
            int status = execute(part.isMaven() ? command : java(command), lines);
            if (status != 0) {
                return status == SKIPPED ? "SKIPPED" : "FAILED with status " + status;
            }
        }
        if (part.output().isPresent()) {
            lines.clear();
            lines.addAll(Files.readAllLines(part.output().get()));
        }
        return write(part, lines);
    }

    private String write(Part part, List<String> lines) throws IOException {
        List<Table> tables = Table.in(lines);
        List<String> missing = new ArrayList<>();
        for (Page page : pages) {
            for (String block : page.blocks(part.name())) {
                String text = tables.stream()
                        .filter(table -> table.name().equals(block))
                        .map(Table::text)
                        .collect(Collectors.joining());
                if (text.isEmpty()) {
                    missing.add(block);
                } else {
                    page.replace(part.name(), block, part.text(), text + "\n" + origin.line(part));
                }
            }
        }
        List<Figure> figures =
                lines.stream().filter(Figure::isIn).map(Figure::read).toList();
        if (!figures.isEmpty()) {
            History.of(root, part.name()).add(new History.Run(origin.date(), origin.commit(), figures));
        }
        return missing.isEmpty() ? "measured" : "WITHOUT THE TABLES " + missing;
    }

    private List<String> java(List<String> command) {
        List<String> all = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "-D" + Trial.PROPERTY + "=" + trial));
        all.addAll(command);
        return all;
    }

    /** Runs a program, adds the lines of its output, and returns its exit status. */
    private static int execute(List<String> command, List<String> lines) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            new String(process.getInputStream().readAllBytes(), UTF_8).lines().forEach(lines::add);
            return process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted: " + command, e);
        } finally {
            process.destroy();
        }
    }

    private static Path jar() {
        return Path.of(System.getProperty("java.class.path").split(":", 2)[0]).toAbsolutePath();
    }

    /** Copies the documents for a trial. */
    private static Path copy() throws IOException {
        delete(TRIALS);
        try (Stream<Path> docs = Files.walk(Path.of("docs"))) {
            List<Path> files = Stream.concat(Stream.of(Path.of("README.md")), docs.filter(Files::isRegularFile))
                    .toList();
            for (Path file : files) {
                Path copy = TRIALS.resolve(file);
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
        return TRIALS.toAbsolutePath();
    }

    /** Deletes a file or a folder, and the folder that has the name of the file without its suffix. */
    private static void delete(Path path) throws IOException {
        Path folder = path.resolveSibling(path.getFileName().toString().replaceFirst("\\.[^.]*$", ""));
        for (Path each : List.of(path, folder)) {
            if (Files.exists(each)) {
                try (Stream<Path> files = Files.walk(each)) {
                    for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                        Files.delete(file);
                    }
                }
            }
        }
    }
}
