// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The pages about messages have the numbers, levels and texts of the message resources. */
class MessageReferenceTest {
    private static final Path ROOT = Path.of("..");
    private static final List<String> MODULES =
            List.of("core", "client", "interceptor", "redisson-backend", "operations", "envoy", "test-kit");
    private static final String REFERENCE = read("docs/reference/messages.md");
    private static final String TROUBLESHOOTING = read("docs/operations/troubleshooting.md");

    private static final String RETIRED = "\n## Retired numbers";

    private static final Pattern ENTRY =
            Pattern.compile("(?m)^(WEIR-\\d{3}(?:\\.[a-z0-9-]+)?)\\.(level|text|problem|remedy)=(.+)$");
    private static final Pattern ROW = Pattern.compile(
            "(?m)^\\| (WEIR-\\d{3}) \\| (error|INFO|WARNING|ERROR) \\| `([^`]+)` \\| [^|]+ \\| (?:`((?:[^`|]|\\\\\\|)+)`)?.* \\|$");

    private static String read(String path) {
        return DocumentedNamesTest.readPath(ROOT.resolve(path));
    }

    /** The messages by key, each with its parts. */
    private static Map<String, Map<String, String>> messages() {
        Map<String, Map<String, String>> messages = new LinkedHashMap<>();
        for (String module : MODULES) {
            ENTRY.matcher(read(module + "/src/main/resources/META-INF/weir/messages/" + module + ".properties"))
                    .results()
                    .forEach(entry -> messages.computeIfAbsent(entry.group(1), key -> new LinkedHashMap<>())
                            .put(entry.group(2), entry.group(3).replaceAll("\\{\\d:(\\w+)}", "{$1}")));
        }
        return messages;
    }

    @Test
    void eachMessageHasARowAndEachRowAMessage() {
        List<String> expected = new ArrayList<>();
        messages().forEach((key, parts) -> {
            String number = key.substring(0, 8);
            if (parts.containsKey("text")) {
                expected.add(String.join(" ", number, parts.getOrDefault("level", "error"), parts.get("text")));
            } else {
                expected.add(String.join(" ", number, "error", parts.get("problem"), "/", parts.get("remedy")));
            }
        });
        List<String> rows = ROW.matcher(REFERENCE)
                .results()
                .map(row -> {
                    String text = String.join(" ", row.group(1), row.group(2), row.group(3));
                    boolean problem = row.group(2).equals("error") && row.group(4) != null;
                    return unescaped(problem ? text + " / " + row.group(4) : text);
                })
                .toList();
        assertThat(rows).containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void theNumbersOfTheReferenceAreInOrder() {
        assertThat(found(REFERENCE.substring(0, REFERENCE.indexOf(RETIRED)), "(?m)^\\| (WEIR-\\d{3}) \\|"))
                .isSorted();
    }

    @Test
    void aRetiredNumberIsNotUsedAgain() {
        List<String> retired = found(REFERENCE.substring(REFERENCE.indexOf(RETIRED)), "(WEIR-\\d{3})");
        Set<String> used = new TreeSet<>();
        messages().keySet().forEach(key -> used.add(key.substring(0, 8)));
        assertThat(retired).isNotEmpty().doesNotContainAnyElementsOf(used);
    }

    @Test
    void theTroubleshootingPageHasEachWarning() {
        List<String> headings = found(TROUBLESHOOTING, "(?m)^### (WEIR-\\d{3})$");
        assertThat(headings)
                .doesNotHaveDuplicates()
                .containsAll(found(REFERENCE, "(?m)^\\| (WEIR-\\d{3}) \\| (?:WARNING|ERROR) \\|"));
    }

    private static String unescaped(String cell) {
        return cell.replace("\\|", "|");
    }

    private static List<String> found(String text, String regex) {
        return Pattern.compile(regex)
                .matcher(text)
                .results()
                .map((MatchResult match) -> match.group(1))
                .toList();
    }
}
