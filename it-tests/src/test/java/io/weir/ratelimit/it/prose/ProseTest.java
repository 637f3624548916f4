// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.prose;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The documents, messages, alerts and dashboard are plain technical English, in the words of the glossary. */
class ProseTest {
    private static final Path ROOT = Path.of("..");

    @Test
    void documentsUseTheWordsOfTheGlossaryInShortSentences() throws IOException {
        List<String> findings = new ArrayList<>();
        for (Path document : documents()) {
            findings.addAll(findings(document, Markdown.passages(Files.readString(document))));
        }
        assertThat(String.join("\n", findings)).isEmpty();
    }

    @Test
    void messagesUseTheWordsOfTheGlossaryInShortSentences() throws IOException {
        List<String> findings = new ArrayList<>();
        List<Path> bundles = bundles();
        assertThat(bundles).isNotEmpty();
        for (Path bundle : bundles) {
            findings.addAll(findings(bundle, Texts.MESSAGE_BUNDLE));
        }
        assertThat(String.join("\n", findings)).isEmpty();
    }

    @Test
    void alertsAndDashboardUseTheWordsOfTheGlossaryInShortSentences() throws IOException {
        Path operations = ROOT.resolve("docs/operations");
        List<String> findings = new ArrayList<>();
        findings.addAll(findings(operations.resolve("alerts/weir-alerts.yml"), Texts.ALERT_RULES));
        findings.addAll(findings(operations.resolve("dashboards/weir.json"), Texts.DASHBOARD));
        assertThat(String.join("\n", findings)).isEmpty();
    }

    private static List<String> findings(Path file, Texts kind) throws IOException {
        return findings(file, kind.passages(Files.readString(file)));
    }

    private static List<String> findings(Path file, List<Passage> passages) {
        assertThat(passages).as("texts in %s", file).isNotEmpty();
        String name = ROOT.relativize(file).toString();
        return Prose.findings(passages).stream()
                .map(finding -> finding.in(name))
                .toList();
    }

    private static List<Path> documents() throws IOException {
        try (Stream<Path> root = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(root, docs)
                    .filter(path -> path.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    private static List<Path> bundles() throws IOException {
        List<Path> bundles = new ArrayList<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.toList()) {
                Path folder = module.resolve("src/main/resources/META-INF/weir/messages");
                if (Files.isDirectory(folder)) {
                    try (Stream<Path> files = Files.list(folder)) {
                        files.filter(file -> file.toString().endsWith(".properties"))
                                .forEach(bundles::add);
                    }
                }
            }
        }
        return bundles;
    }
}
