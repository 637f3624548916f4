// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Each part has programs and a page with blocks, and each block has a part. */
class PartsTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern FIRST = Pattern.compile("(?m)^<!-- figures: ([a-z-]+)/[^|]+ \\| (.*) -->$");

    @Test
    void eachPartHasProgramsThatExist() throws ReflectiveOperationException {
        for (Part part : Parts.ALL) {
            for (List<String> command : part.commands()) {
                if (!part.isMaven()) {
                    assertThat(Class.forName(command.get(0)).getMethod("main", String[].class))
                            .isNotNull();
                }
            }
        }
    }

    @Test
    void eachPartHasABlockOnItsPage() throws IOException {
        List<Page> pages = Page.in(ROOT);
        for (Part part : Parts.ALL) {
            assertThat(ROOT.resolve(part.page())).isRegularFile();
            assertThat(pages)
                    .as("page of %s", part.name())
                    .anyMatch(page -> page.isFile(part.page())
                            && !page.blocks(part.name()).isEmpty());
        }
    }

    @Test
    void eachBlockHasThePresentCommandsOfItsPart() throws IOException {
        Set<String> known = Parts.ALL.stream()
                .map(part -> part.name() + " | " + part.text())
                .collect(Collectors.toCollection(TreeSet::new));
        known.add(Summary.PART + " | " + Summary.COMMAND);
        Set<String> pages = new TreeSet<>(List.of("README.md"));
        Parts.ALL.forEach(part -> pages.add(part.page()));
        for (String page : pages) {
            Matcher block = FIRST.matcher(Files.readString(ROOT.resolve(page)));
            while (block.find()) {
                assertThat(known).as("blocks of %s", page).contains(block.group(1) + " | " + block.group(2));
            }
        }
    }

    @Test
    void goalsAndChartsUseFiguresThatArePresent() throws IOException {
        for (Goal goal : Goal.ALL) {
            assertThat(History.of(ROOT, goal.part()).last())
                    .as("figures of %s", goal.part())
                    .hasValueSatisfying(run ->
                            assertThat(run.find(goal.figure())).as(goal.text()).isPresent());
        }
        for (Charts chart : Charts.ALL) {
            assertThat(History.of(ROOT, chart.part()).last()).as(chart.name()).isPresent();
        }
    }
}
