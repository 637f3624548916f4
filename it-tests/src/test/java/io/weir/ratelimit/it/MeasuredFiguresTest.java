// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

/**
 * The tables between markers are as {@code report} of the benchmarks wrote them. Each has a program that exists, and the commit that was
 * measured.
 */
class MeasuredFiguresTest {
    private static final Pattern BLOCK = Pattern.compile(
            "(?ms)^(?<all><!-- figures: (?<part>[a-z-]+)/(?<name>[^|\n]+) \\| (?<command>[^>\n]+) -->\n(?<text>.*?))^<!-- end of figures: (?<digest>[0-9a-f]*) -->$");
    private static final Pattern MARKER = Pattern.compile("<!-- (?:end of )?figures: ");
    private static final Pattern MEASURED = Pattern.compile(
            "(?m)^Measured on \\d{4}-\\d\\d-\\d\\d at commit `([0-9a-f]{8})`(?: or before)? by `[^`]+`: .+\\.$");
    private static final String NOT_MEASURED = "Not measured at this version.";
    private static final Pattern RUN =
            Pattern.compile("\\d{4}-\\d\\d-\\d\\d,[0-9a-f]{8}(?: or before)?,[^,]+,[^,]+,[^,]+,.+");
    private static final Pattern PROGRAM = Pattern.compile("(io\\.weir[\\w.]+\\.[A-Z]\\w*)(?: .*)?");
    private static final Pattern MAVEN = Pattern.compile("mvn .* -pl (\\S+) .*");
    private static final Pattern IMAGE = Pattern.compile("!\\[[^]]+]\\(([^)]+)\\)");

    private record Block(Path page, MatchResult match) {
        String part() {
            return match.group(2);
        }

        String text() {
            return match.group(5).strip();
        }

        @Override
        public String toString() {
            return "block " + part() + "/" + match.group(3) + " of " + page;
        }
    }

    @Test
    void tablesAreAsTheReportWroteThem() throws IOException {
        SoftAssertions all = new SoftAssertions();
        for (Block block : blocks()) {
            all.assertThat(digest(block.match.group(1)))
                    .as("digest of %s: run its command instead of an edit by hand", block)
                    .isEqualTo(block.match.group(6));
        }
        all.assertAll();
    }

    @Test
    void eachMarkerBelongsToABlock() throws IOException {
        for (Path page : pages()) {
            String text = Files.readString(page);
            assertThat(MARKER.matcher(text).results().count())
                    .as("markers of %s", page)
                    .isEqualTo(2 * BLOCK.matcher(text).results().count());
        }
    }

    @Test
    void eachTableHasAProgramThatExists() throws IOException {
        SoftAssertions all = new SoftAssertions();
        for (Block block : blocks()) {
            for (String command : block.match.group(4).split("; ", -1)) {
                all.assertThat(program(command)).as("%s of %s", command, block).isTrue();
            }
        }
        all.assertAll();
    }

    @Test
    void eachBlockBeginsWithTheTableOfItsName() throws IOException {
        SoftAssertions all = new SoftAssertions();
        for (Block block : blocks()) {
            if (!block.part().equals("summary") && !block.text().equals(NOT_MEASURED)) {
                all.assertThat(block.text())
                        .as("header of %s", block)
                        .matches(Pattern.compile(
                                "\\| " + Pattern.quote(block.match.group(3)) + " \\|.*\n\\|(---\\|)+\n.*",
                                Pattern.DOTALL));
            }
        }
        all.assertAll();
    }

    @Test
    void eachTableHasTheCommitThatWasMeasured() throws IOException {
        SoftAssertions all = new SoftAssertions();
        for (Block block : blocks()) {
            if (!block.part().equals("summary") && !block.text().equals(NOT_MEASURED)) {
                all.assertThat(MEASURED.matcher(block.text()).results().count())
                        .as("lines with date and commit of a work tree without changes, of %s", block)
                        .isEqualTo(1);
            }
        }
        all.assertAll();
    }

    @Test
    void keptFiguresHaveTheCommitThatWasMeasured() throws IOException {
        try (Stream<Path> files = Files.list(Pom.ROOT.resolve("docs/figures"))) {
            List<Path> kept =
                    files.filter(file -> file.toString().endsWith(".csv")).toList();
            assertThat(kept).isNotEmpty();
            for (Path file : kept) {
                List<String> lines = Files.readAllLines(file);
                assertThat(lines.subList(1, lines.size()))
                        .as("%s", file)
                        .isNotEmpty()
                        .allMatch(line -> RUN.matcher(line).matches());
            }
        }
    }

    @Test
    void pagesWithTablesOfSeveralCommitsSayIt() throws IOException {
        for (Path page : pages()) {
            String text = Files.readString(page);
            Set<String> commits = new TreeSet<>();
            MEASURED.matcher(text).results().forEach(line -> commits.add(line.group(1)));
            if (commits.size() > 1) {
                assertThat(blocks().stream()
                                .filter(block -> block.page.equals(page))
                                .filter(block -> block.match.group(3).equals("commits")))
                        .as("block summary/commits of %s", page)
                        .singleElement()
                        .satisfies(block -> assertThat(block.text())
                                .isEqualTo("The tables of this page are of different commits: `"
                                        + String.join("`, `", commits) + "`."));
            }
        }
    }

    @Test
    void chartsExist() throws IOException {
        for (Block block : blocks()) {
            IMAGE.matcher(block.text())
                    .results()
                    .forEach(image -> assertThat(block.page.resolveSibling(image.group(1)))
                            .as("chart of %s", block)
                            .isRegularFile()
                            .content()
                            .contains("<title", "prefers-color-scheme: dark"));
        }
    }

    private static boolean program(String command) {
        MatchResult program = PROGRAM.matcher(command).results().findFirst().orElse(null);
        if (program != null) {
            return Files.isRegularFile(Pom.ROOT.resolve(
                    "benchmarks/src/main/java/" + program.group(1).replace('.', '/') + ".java"));
        }
        MatchResult maven = MAVEN.matcher(command).results().findFirst().orElse(null);
        return maven != null && Files.isRegularFile(Pom.ROOT.resolve(maven.group(1) + "/pom.xml"));
    }

    private static List<Block> blocks() throws IOException {
        List<Block> blocks = new ArrayList<>();
        for (Path page : pages()) {
            BLOCK.matcher(Files.readString(page)).results().forEach(match -> blocks.add(new Block(page, match)));
        }
        assertThat(blocks).isNotEmpty();
        return blocks;
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> docs = Files.walk(Pom.ROOT.resolve("docs"))) {
            return Stream.concat(Stream.of(Pom.ROOT.resolve("README.md")), docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    private static String digest(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
            return HexFormat.of().formatHex(hash).substring(0, 12);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
