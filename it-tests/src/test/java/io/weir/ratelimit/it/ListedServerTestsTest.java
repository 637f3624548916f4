// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page about compatibility names the tests of each server. */
class ListedServerTestsTest {
    private static final Pattern NAME = Pattern.compile("`(\\w+IT)`");
    private static final List<String> STARTED =
            List.of("LibertyServer.named(", "PayaraServer.named(", "WildFlyServer.named(");

    @Test
    void contractTestsAreThoseThatArquillianDeploys() throws IOException {
        assertThat(named(between("The contract tests are", "`.ci/run` runs")))
                .isEqualTo(tests(source -> source.contains("@Tag(\"arquillian\")")));
    }

    @Test
    void serverTestsStartThreeServers() throws IOException {
        assertThat(named(between("The server tests are", "The following tests")))
                .isEqualTo(tests(source -> STARTED.stream().allMatch(source::contains)));
    }

    @Test
    void eachTestWithAServerIsNamed() throws IOException {
        Set<String> all = tests(source -> !source.contains("class ReleasedJarsIT")); // it starts no server
        assertThat(named(between("## Servers", "### What servers do not have"))).isEqualTo(all);
    }

    private static String between(String start, String end) throws IOException {
        String page = Files.readString(Pom.ROOT.resolve("docs/reference/compatibility.md"));
        int from = page.indexOf(start);
        int to = page.indexOf(end, from);
        assertThat(from).as(start).isPositive();
        assertThat(to).as(end).isPositive();
        return page.substring(from, to);
    }

    private static Set<String> named(String text) {
        return NAME.matcher(text)
                .results()
                .map((MatchResult name) -> name.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> tests(Predicate<String> condition) throws IOException {
        Set<String> names = new TreeSet<>();
        try (Stream<Path> files = Files.list(Path.of("src/test/java/io/weir/ratelimit/it"))) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith("IT.java")).toList()) {
                if (condition.test(Files.readString(file))) {
                    names.add(file.getFileName().toString().replace(".java", ""));
                }
            }
        }
        return names;
    }
}
