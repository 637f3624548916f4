// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables in pages, kept figures, claims and goals. */
class ReportTest {
    private static final String EMPTY = "<!-- figures: local/a, b | Program one -->\nold\n<!-- end of figures: 0 -->";

    @TempDir
    private Path root;

    @BeforeEach
    void documents() throws IOException {
        Files.createDirectories(root.resolve("docs/reference"));
        Files.writeString(root.resolve("README.md"), "# Readme\n");
    }

    private static History.Run run(int day, Figure... figures) {
        return new History.Run(LocalDate.of(2026, 11, day), "0000000" + day % 10, Arrays.asList(figures));
    }

    private static Figure lead(double low, double middle, double high) {
        return new Figure("lead: many keys × peer", low, middle, high);
    }

    @Test
    void aTableReplacesTheContentsOfItsBlockAndNothingElse() throws IOException {
        Path file = root.resolve("docs/reference/page.md");
        Files.writeString(file, "before\n\n" + EMPTY + "\n\nafter\n");
        List<Table> tables = Table.in(
                List.of("| a, b | c |", "|---|---|", "| 1 | 2 |", "text", "| a, b | c |", "|---|---|", "| 3 | 4 |"));
        assertThat(tables).hasSize(1);
        Page page = Page.in(root).get(0);
        page.replace("local", "a, b", "Program two", tables.get(0).text());
        page.replace("local", "c", "Program two", "of another block");
        String written = Files.readString(file);
        assertThat(written)
                .isEqualTo("before\n\n"
                        + Page.block("local", "a, b", "Program two", "| a, b | c |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |")
                        + "\n\nafter\n");
    }

    @Test
    void aDigestDependsOnTheTextAndOnTheCommand() {
        assertThat(digest("x", "1")).isNotEqualTo(digest("x", "2")).isNotEqualTo(digest("y", "1"));
    }

    private static String digest(String command, String text) {
        return Page.block("local", "a", command, text).replaceAll("(?s).*end of figures: ", "");
    }

    @Test
    void historyKeepsTheLastRunOfEachOfTheLastTwoDays() throws IOException {
        History history = History.of(root, "comparison");
        history.add(run(1, lead(1, 1, 1)));
        history.add(run(2, lead(2, 2, 2)));
        history.add(run(2, lead(3, 3, 3)));
        history.add(run(4, lead(Double.NaN, 4, 4)));
        assertThat(History.of(root, "comparison").runs())
                .extracting(
                        run -> run.date().getDayOfMonth(),
                        run -> run.figures().get(0).middle())
                .containsExactly(tuple(2, 3.0), tuple(4, 4.0));
    }

    @Test
    void aLeadNeedsTheMiddleHalfOfTwoRunsAboveOne() {
        assertThat(Leads.text(List.of(run(1, lead(1.1, 1.2, 1.3))))).contains("no lead is claimed", "none, one run");
        assertThat(Leads.text(List.of(run(1, lead(1.1, 1.2, 1.3)), run(2, lead(1.01, 1.1, 1.2)))))
                .contains("leads the best peer in 1 of 1 cells", "**Weir leads**");
        assertThat(Leads.text(List.of(run(1, lead(1.1, 1.2, 1.3)), run(2, lead(0.99, 1.1, 1.2)))))
                .contains("leads the best peer in 0 of 1 cells", "| none |");
        assertThat(Leads.text(List.of(run(1, lead(0.8, 0.9, 0.95)), run(2, lead(0.8, 0.9, 0.99)))))
                .contains("the peer leads");
    }

    @Test
    void aGoalOfALeadIsThatOfTheWorseOfTwoRuns() {
        Goal goal = new Goal("goal", "comparison", "lead: many keys", Figure::low, true, 1, "", 2);
        assertThat(goal.row(List.of())).contains("not measured");
        assertThat(goal.row(List.of(run(1, lead(1.1, 1.2, 1.3))))).contains("in one run of two");
        assertThat(goal.row(List.of(run(1, lead(0.9, 1.2, 1.3)), run(2, lead(1.1, 1.2, 1.3)))))
                .contains("0.90", "**missed**");
    }

    @Test
    void aChartHasABarPerValueAndEscapesItsTexts() {
        Chart chart = new Chart(
                "a < b",
                List.of("Weir, `x`", "peer"),
                List.of(new Chart.Panel("p", List.of(new Figure("w", 1, 2, 3), new Figure("p", Double.NaN)))),
                false);
        assertThat(chart.svg())
                .contains("a &lt; b", "class=\"own\"", "class=\"range\"", ">2.00<", ">-<")
                .doesNotContain("class=\"bar\"", "NaN", "`");
    }
}
