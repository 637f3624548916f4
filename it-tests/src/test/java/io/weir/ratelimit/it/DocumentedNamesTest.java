// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.metrics.Meters;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The documents have the names and the versions of the code. */
class DocumentedNamesTest {
    private static final Path ROOT = Path.of("..");
    private static final List<String> MODULES =
            List.of("api", "core", "client", "interceptor", "redisson-backend", "operations", "envoy");

    @Test
    void everyPropertyMetricAndAttributeIsDocumented() {
        Set<String> named = found(sources(), "\"(ratelimit\\.[a-z0-9.-]+[a-z0-9])\"");
        assertThat(named).contains("ratelimit.enabled", "ratelimit.decisions", "ratelimit.allowed");
        Set<String> documented =
                found(read("docs/reference/configuration.md"), "(?m)^\\| `(ratelimit\\.[a-z0-9.-]+[a-z0-9])` \\|");
        documented.addAll(found(read("docs/reference/observability.md"), "`(ratelimit\\.[a-z0-9.-]+[a-z0-9])`"));
        assertThat(documented).isEqualTo(named);
    }

    @Test
    void thePageAboutAlertsHasAllNamesInPrometheus() {
        Set<String> metrics = Stream.of(Meters.Metric.values())
                .map(Meters.Metric::label)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(found(read("docs/operations/alerts.md"), "(?m)^\\| `(ratelimit\\.[a-z.]+)` \\| `ratelimit_"))
                .isEqualTo(metrics);
    }

    @Test
    void documentsRunTheExampleOnEachServerAndTheTests() {
        List<String> commands = commands("README.md");
        assertThat(commands).hasSize(2);
        assertThat(commands.get(0))
                .contains("-pl examples/openliberty ", " liberty:run ")
                .isIn(commands("docs/how-to/open-liberty.md"));
        assertThat(commands.get(1)).isIn(read(".ci/run").lines().toList());
        assertThat(commands("docs/how-to/payara.md"))
                .anyMatch(line -> line.matches("mvn -pl examples/payara .* -Prun .*"));
        assertThat(commands("docs/how-to/wildfly.md"))
                .anyMatch(line -> line.matches("mvn -pl examples/wildfly .* -Prun .*"));
    }

    private static List<String> commands(String document) {
        return read(document).lines().filter(line -> line.startsWith("mvn ")).toList();
    }

    @Test
    void compatibilityTableHasTheVersionsOfTheBuild() {
        Pom parent = Pom.of(ROOT);
        String page = read("docs/reference/compatibility.md");
        for (String property : List.of(
                "openliberty",
                "payara",
                "wildfly",
                "redisson",
                "caffeine",
                "jakartaee",
                "microprofile-config",
                "microprofile-fault-tolerance",
                "microprofile-health",
                "microprofile-jwt",
                "microprofile-metrics",
                "microprofile-openapi",
                "opentelemetry",
                "embedded-redis")) {
            String version =
                    parent.text("/project/properties/" + property + ".version").orElseThrow();
            assertThat(page).as(property).containsPattern("(?<![\\d.])" + Pattern.quote(version) + "(?![\\d.]*\\d)");
        }
    }

    private static Set<String> found(String text, String regex) {
        Set<String> found = new TreeSet<>();
        Pattern.compile(regex)
                .matcher(text)
                .results()
                .map((MatchResult m) -> m.group(1))
                .forEach(found::add);
        return found;
    }

    private static String sources() {
        StringBuilder all = new StringBuilder();
        for (String module : MODULES) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
                files.filter(path -> path.toString().endsWith(".java")).forEach(path -> all.append(readPath(path)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return all.toString();
    }

    private static String read(String path) {
        return readPath(ROOT.resolve(path));
    }

    static String readPath(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
