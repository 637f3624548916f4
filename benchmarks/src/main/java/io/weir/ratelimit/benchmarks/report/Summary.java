// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The results of the kept figures: the goals, the claims, the charts, and the commits of each page. It measures nothing. */
final class Summary {
    static final String PART = "summary";
    static final String COMMAND = Report.class.getName() + " " + PART;

    private final Path root;
    private final List<Page> pages;

    Summary(Path root, List<Page> pages) {
        this.root = root;
        this.pages = pages;
    }

    void write() throws IOException {
        write("goals", goals());
        write("leads", Leads.text(History.of(root, "comparison").runs()));
        for (Charts chart : Charts.ALL) {
            Optional<String> svg = chart.svg(History.of(root, chart.part()).last());
            if (svg.isPresent()) {
                Files.writeString(root.resolve(chart.file()), svg.get());
            }
            for (Page page : pages) {
                String image = "![" + chart.alternative() + "](" + page.linkTo(chart.file()) + ")";
                page.replace(PART, chart.name(), COMMAND, svg.isPresent() ? image : "Not measured at this version.");
            }
        }
        for (Page page : pages) {
            page.replace(PART, "commits", COMMAND, commits(page.commits()));
        }
    }

    private void write(String block, String contents) throws IOException {
        for (Page page : pages) {
            page.replace(PART, block, COMMAND, contents);
        }
    }

    private String goals() throws IOException {
        Table table = Table.of("goal", "bound", "measured", "met", "last run");
        for (Goal goal : Goal.ALL) {
            table.row(goal.row(History.of(root, goal.part()).runs()));
        }
        return table.text();
    }

    private static String commits(Set<String> commits) {
        return switch (commits.size()) {
            case 0 -> "No table of this page is measured at this version.";
            case 1 ->
                "All tables of this page are of commit `" + commits.iterator().next() + "`.";
            default -> "The tables of this page are of different commits: `" + String.join("`, `", commits) + "`.";
        };
    }
}
