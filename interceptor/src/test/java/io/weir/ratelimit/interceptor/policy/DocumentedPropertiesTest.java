// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The table of properties says what the code does: each property is in it, and a value that it calls the default changes nothing. */
class DocumentedPropertiesTest {
    private static final Path PAGE = Path.of("..", "docs", "reference", "configuration.md");
    private static final Pattern ROW = Pattern.compile(
            "(?m)^\\| `(ratelimit\\.[^`]+)` \\| ((?:[^|\\\\]|\\\\.)*?) ?\\| ((?:[^|\\\\]|\\\\.)+) \\| ((?:[^|\\\\]|\\\\.)*) \\|$");
    private static final String POLICY = "ratelimit.policies.<p>.";

    /** Properties of a pattern, which the table shows by example. */
    private static final Set<String> PATTERNS = Set.of(
            "ratelimit.costs.\"Class.method\"",
            POLICY + "tiers.<t>.limit",
            POLICY + "tiers.<t>.burst",
            POLICY + "costs.<path>");

    private record Row(String defaultValue, String meaning, String range) {}

    @Test
    void eachPropertyHasARowAndEachRowAProperty() throws IOException {
        Set<String> known = new TreeSet<>(Policies.PROPERTIES);
        PolicyReader.ATTRIBUTES.forEach(attribute -> known.add(POLICY + attribute));
        known.addAll(PATTERNS);
        assertThat(rows().keySet()).isEqualTo(known);
    }

    @Test
    void eachRowSaysWhatIsLegal() throws IOException {
        assertThat(rows().values()).allSatisfy(row -> assertThat(row.range).isNotBlank());
    }

    @Test
    void theDefaultsOfSettingsAreTheirs() throws IOException {
        String[] defaults = rows().entrySet().stream()
                .filter(row -> !row.getKey().startsWith("ratelimit.policies.") && hasDefault(row.getValue()))
                .map(row -> row.getKey() + "=" + code(row.getValue().defaultValue))
                .toArray(String[]::new);
        Problems problems = new Problems();
        assertThat(defaults).hasSizeGreaterThan(8);
        assertThat(Settings.read(Configs.of(defaults), problems))
                .usingRecursiveComparison()
                .isEqualTo(Settings.read(Configs.of(), problems));
        assertThat(problems.found()).isEmpty();
    }

    @Test
    void theDefaultsOfPoliciesAreTheirs() throws IOException {
        Map<String, String> defaults = rows().entrySet().stream()
                .filter(row -> row.getKey().startsWith(POLICY)
                        && hasDefault(row.getValue())
                        // Of policies with paths, which the others are not.
                        && !row.getKey().equals(POLICY + "phase"))
                .collect(Collectors.toMap(
                        row -> row.getKey().replace("<p>", "api"), row -> code(row.getValue().defaultValue)));
        assertThat(defaults).hasSizeGreaterThan(7);
        String limit = "ratelimit.policies.api.limit=5/1s";
        Policy plain = ReadPolicies.of(limit).policy("api");
        defaults.forEach((property, value) -> {
            ReadPolicies read = ReadPolicies.of(limit, property + "=" + value);
            assertThat(read.found()).as(property).isEmpty();
            assertThat(text(read.policy("api"))).as(property).isEqualTo(text(plain));
        });
    }

    private static String text(Policy policy) {
        return policy.toString().replaceAll("@[0-9a-f]+", "");
    }

    private static boolean hasDefault(Row row) {
        return row.defaultValue.matches("`[^`]+`");
    }

    private static String code(String text) {
        return text.replace("`", "").replace("\\|", "|");
    }

    private static Map<String, Row> rows() throws IOException {
        Map<String, Row> rows = new TreeMap<>();
        ROW.matcher(Files.readString(PAGE))
                .results()
                .forEach(row -> assertThat(
                                rows.put(row.group(1), new Row(row.group(2).strip(), row.group(3), row.group(4))))
                        .as("two rows of " + row.group(1))
                        .isNull());
        return rows;
    }
}
