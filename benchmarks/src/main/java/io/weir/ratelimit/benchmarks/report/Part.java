// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A part of the report: programs whose output has the tables of the documents. A page shows a table where it has its markers.
 *
 * @param name the name on the command line
 * @param page the page with its tables, relative to the root of the repository
 * @param commands the programs: a class with its arguments, or Maven with its arguments
 * @param output the file that the last program writes; empty if its tables are on standard output
 */
record Part(String name, String page, List<List<String>> commands, Optional<Path> output) {
    private static final String MAVEN = "mvn";

    /** Creates a part of programs of this jar, each given as one text of its class and its arguments. */
    static Part of(String name, String page, String... commands) {
        return new Part(
                name,
                page,
                Arrays.stream(commands)
                        .map(command -> List.of(command.split(" ", -1)))
                        .toList(),
                Optional.empty());
    }

    /** Creates a part of a run of Maven, which writes the tables to a file. */
    static Part ofMaven(String name, String page, String command, String output) {
        return new Part(name, page, List.of(List.of(command.split(" ", -1))), Optional.of(Path.of(output)));
    }

    boolean isMaven() {
        return commands.get(0).get(0).equals(MAVEN);
    }

    /** Returns the commands as a reader of a marker sees them. */
    String text() {
        return commands.stream().map(command -> String.join(" ", command)).collect(Collectors.joining("; "));
    }
}
