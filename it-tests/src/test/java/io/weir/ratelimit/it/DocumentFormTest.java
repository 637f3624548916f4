// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

/** Decisions are short and of one form, and each measurement has the command that repeats it. */
class DocumentFormTest {
    private static final int MAX_LINES = 12;
    private static final String DECISIONS = "docs/decisions.md";
    private static final Pattern NUMBERED = Pattern.compile("(\\d+)\\. .+");
    private static final Pattern CLAIM = Pattern.compile("\\*\\*.+\\*\\*");
    private static final String REJECTED = "Rejected:";
    private static final Pattern PROGRAM =
            Pattern.compile("\\bjava (?:-\\S+ )*-cp \\S+ (io\\.weir(?:\\.[a-z]\\w*)+\\.[A-Z]\\w*)");
    private static final Pattern TEST = Pattern.compile("-D(?:it\\.)?test=(\\w+(?:IT|Test|Cost))\\b");

    @Test
    void decisionsHaveAClaimReasonsAndRejectedAlternatives() {
        SoftAssertions all = new SoftAssertions();
        for (String subject : subjects()) {
            for (String entry : parts(subject, "### ")) {
                List<String> lines =
                        entry.lines().filter(line -> !line.isBlank()).toList();
                String title = lines.get(0);
                List<String> body = lines.subList(1, lines.size());
                all.assertThat(title).matches(NUMBERED);
                all.assertThat(body).as("lines of decision %s", title).hasSizeLessThanOrEqualTo(MAX_LINES);
                all.assertThat(body.get(0)).as("claim of decision %s", title).matches(CLAIM);
                int rejected = body.indexOf(REJECTED);
                all.assertThat(rejected)
                        .as("lines before '%s' in decision %s", REJECTED, title)
                        .isGreaterThan(1);
                all.assertThat(body.subList(rejected + 1, body.size()))
                        .as("alternatives of decision %s", title)
                        .isNotEmpty()
                        .allMatch(line -> line.startsWith("* ") || line.startsWith("  "));
                all.assertThat(body)
                        .as("no table or code in decision %s", title)
                        .noneMatch(line -> line.startsWith("|") || line.startsWith("```"));
            }
        }
        all.assertAll();
    }

    @Test
    void decisionsAreInAscendingOrderWithinTheirSubject() {
        Set<Integer> numbers = new HashSet<>();
        for (String subject : subjects()) {
            List<Integer> ofSubject = parts(subject, "### ").stream()
                    .map(entry -> Integer.valueOf(entry.substring(0, entry.indexOf('.'))))
                    .toList();
            assertThat(ofSubject)
                    .as(subject.lines().findFirst().orElseThrow())
                    .isNotEmpty()
                    .isSorted()
                    .allMatch(numbers::add);
        }
    }

    @Test
    void contentsOfDecisionsHaveEachSubject() {
        String page = DocumentedNamesTest.readPath(Pom.ROOT.resolve(DECISIONS));
        String contents = page.substring(0, page.indexOf("\n## "));
        assertThat(subjects()).allSatisfy(subject -> {
            String title = subject.lines().findFirst().orElseThrow();
            assertThat(contents)
                    .contains("| [" + title + "](#"
                            + title.toLowerCase(Locale.ROOT).replace(",", "").replace(' ', '-') + ") |");
        });
    }

    @Test
    void eachMeasurementHasACommandThatExists() {
        Path page = Pom.ROOT.resolve("docs/measurements.md");
        List<String> sections = parts(DocumentedNamesTest.readPath(page), "## ");
        assertThat(sections).isNotEmpty().allSatisfy(section -> {
            Set<String> programs = OperationsFiles.found(section, PROGRAM.pattern());
            Set<String> tests = OperationsFiles.found(section, TEST.pattern());
            assertThat(programs.size() + tests.size())
                    .as("commands in %s", section)
                    .isPositive();
            assertThat(programs)
                    .allSatisfy(program -> assertThat(
                                    Pom.ROOT.resolve("benchmarks/src/main/java/" + program.replace('.', '/') + ".java"))
                            .isRegularFile());
            assertThat(tests)
                    .allSatisfy(test -> assertThat(Path.of("src/test/java/io/weir/ratelimit/it", test + ".java"))
                            .isRegularFile());
        });
    }

    /** Returns the text of each subject, which begins with its title. */
    private static List<String> subjects() {
        List<String> subjects = parts(DocumentedNamesTest.readPath(Pom.ROOT.resolve(DECISIONS)), "## ");
        assertThat(subjects).isNotEmpty();
        return subjects;
    }

    /** Returns the parts of a text that begin with a heading, without its mark and without the text before the first one. */
    private static List<String> parts(String text, String heading) {
        return Arrays.stream(("\n" + text).split("\n" + heading, -1)).skip(1).toList();
    }
}
