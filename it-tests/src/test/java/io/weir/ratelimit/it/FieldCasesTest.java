// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page about field cases and the tests with the tag {@code field} agree. */
class FieldCasesTest {
    private static final Pattern TEST = Pattern.compile("`(\\w+(?:Test|IT|Contract))\\.(\\w+)`");
    private static final Pattern TAGGED =
            Pattern.compile("@Tag\\(\"field\"\\)(?s:\\s*(?:@[^\\n]*\\n\\s*)*)(?:final |abstract |public )*class ");
    private static final Pattern TAGGED_METHOD =
            Pattern.compile("@Tag\\(\"field\"\\)(?s:(?:(?!\\bvoid\\b|\\bclass\\b).)*?)\\bvoid (\\w+)\\(");
    private static final Pattern REPORT = Pattern.compile("[\\w.-]+(?:/[\\w.-]+)?#\\d+");

    @Test
    void eachRowNamesTestsWithTheTag() throws IOException {
        Map<String, String> sources = sources();
        for (List<String> row : rows()) {
            Set<String> named = names(row.get(4));
            assertThat(named).as("%s", row).isNotEmpty();
            for (String test : named) {
                String[] parts = test.split("\\.");
                assertThat(sources).as(test).containsKey(parts[0]);
                assertThat(tagged(sources.get(parts[0]))).as(test).contains(parts[1]);
            }
        }
    }

    @Test
    void eachTestWithTheTagHasARow() throws IOException {
        String page = Files.readString(page());
        sources().forEach((name, source) -> {
            for (String method : TAGGED_METHOD
                    .matcher(source)
                    .results()
                    .map(found -> found.group(1))
                    .toList()) {
                assertThat(page).contains("`" + name + "." + method + "`");
            }
            if (TAGGED.matcher(source).find()) {
                assertThat(page).contains("`" + name + ".");
            }
        });
    }

    @Test
    void eachRowNamesAReportAndAState() throws IOException {
        assertThat(rows()).isNotEmpty().allSatisfy(row -> {
            assertThat(row).hasSize(5);
            assertThat(row.get(1)).as("%s", row).containsPattern(REPORT);
            assertThat(row.get(3)).as("%s", row).matches("always|\\d+\\.\\d+\\.\\d+");
        });
    }

    /** Returns the names of the test methods that have the tag, or whose class has it. */
    private static Set<String> tagged(String source) {
        Pattern methods = TAGGED.matcher(source).find() ? Pattern.compile("\\bvoid (\\w+)\\(") : TAGGED_METHOD;
        return methods.matcher(source)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> names(String cell) {
        return TEST.matcher(cell)
                .results()
                .map(found -> found.group(1) + "." + found.group(2))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<List<String>> rows() throws IOException {
        try (Stream<String> lines = Files.lines(page())) {
            return lines.filter(line -> line.startsWith("| "))
                    .filter(line -> !line.startsWith("| case |"))
                    .map(line -> Stream.of(line.substring(1).split("(?<!\\\\)\\|"))
                            .map(String::strip)
                            .toList())
                    .toList();
        }
    }

    private static Path page() {
        return Pom.ROOT.resolve("docs/field-cases.md");
    }

    /** Returns the text of each test class by its simple name. Classes of several modules with one name are one text. */
    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new TreeMap<>();
        for (Path root : modules()) {
            for (String folder : List.of("src/test/java", "src/redis/java", "src/main/java")) {
                Path tests = root.resolve(folder);
                if (Files.isDirectory(tests)) {
                    try (Stream<Path> files = Files.walk(tests)) {
                        for (Path file : files.filter(path -> path.toString().matches(".*(Test|IT|Contract)\\.java"))
                                .toList()) {
                            String name = file.getFileName().toString().replace(".java", "");
                            sources.merge(name, Files.readString(file), String::concat);
                        }
                    }
                }
            }
        }
        return sources;
    }

    /** Returns the folders of all modules, also of those in a profile and of those in another module. */
    private static List<Path> modules() {
        List<Path> modules = new ArrayList<>();
        for (String module : Pom.of(Pom.ROOT).texts("//modules/module")) {
            Path root = Pom.ROOT.resolve(module);
            modules.add(root);
            Pom.of(root).texts("//modules/module").forEach(inner -> modules.add(root.resolve(inner)));
        }
        return modules;
    }
}
