// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tags of all test classes, which select the tests of a command. */
class TestTagsTest {
    private static final Pattern TAG = Pattern.compile("@Tag\\(\"([a-z]+)\"\\)");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z]+)` \\| ");
    private static final Pattern PROCESS = Pattern.compile(
            "\\b(RedisFixture|RedisProcess|ClusterFixture|SentinelFixture|ClusterUnderFault|TestBackend)\\.[a-z]+[sS]?(tarted|hared|n)\\(");

    @Test
    void testsThatStartRedisAreTagged() throws IOException {
        sources("Test.java").forEach((file, source) -> {
            if (PROCESS.matcher(source).find()) {
                assertThat(tags(source)).as("%s", file.getFileName()).containsAnyOf("redis", "fault");
            }
        });
    }

    @Test
    void testsOfTheRedisBackendThatStartRedisHaveAFolderOfTheirOwn() throws IOException {
        Path module = Pom.ROOT.resolve("redisson-backend");
        sources("Test.java").forEach((file, source) -> {
            if (file.startsWith(module)) {
                assertThat(file.startsWith(module.resolve("src/redis")))
                        .as("%s is in src/redis", file.getFileName())
                        .isEqualTo(
                                tags(source).contains("redis") || tags(source).contains("fault"));
            }
        });
    }

    @Test
    void integrationTestsAreTagged() throws IOException {
        sources("IT.java")
                .forEach((file, source) ->
                        assertThat(tags(source)).as("%s", file.getFileName()).contains("server"));
    }

    @Test
    void eachTagIsDocumented() throws IOException {
        Set<String> used = new TreeSet<>();
        for (String end : Set.of("Test.java", "IT.java")) {
            sources(end).values().forEach(source -> used.addAll(tags(source)));
        }
        String page = Files.readString(Pom.ROOT.resolve("CONTRIBUTING.md"));
        String table = page.substring(page.indexOf("### Tags"), page.indexOf("### Proofs"));
        assertThat(ROW.matcher(table).results().map(row -> row.group(1)).collect(Collectors.toSet()))
                .isEqualTo(used);
    }

    private static Set<String> tags(String source) {
        return TAG.matcher(source).results().map(tag -> tag.group(1)).collect(Collectors.toSet());
    }

    /** Returns the sources of the test classes of all modules. */
    private static Map<Path, String> sources(String end) throws IOException {
        Map<Path, String> sources = new HashMap<>();
        for (String module : Pom.of(Pom.ROOT).texts("/project/modules/module")) {
            for (String folder : List.of("src/test/java", "src/redis/java")) {
                Path tests = Pom.ROOT.resolve(module).resolve(folder);
                if (Files.isDirectory(tests)) {
                    try (Stream<Path> files = Files.walk(tests)) {
                        for (Path file : files.filter(path -> path.toString().endsWith(end))
                                .toList()) {
                            sources.put(file, Files.readString(file));
                        }
                    }
                }
            }
        }
        assertThat(sources).isNotEmpty();
        return sources;
    }
}
