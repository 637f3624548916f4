// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

/** Each link between documents has an existing file and heading as its target. */
class DocumentLinksTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern CODE = Pattern.compile("(?ms)^```.*?^```|(?<!`)`[^`\n]+`(?!`)");
    private static final Pattern LINK = Pattern.compile("\\]\\((?![a-z]+:)([^)\\s#]*)(?:#([^)\\s]+))?\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} (.+)$");
    private static final Pattern FENCE = Pattern.compile("(?ms)^```.*?^```");

    @Test
    void linksBetweenDocumentsHaveATarget() throws IOException {
        SoftAssertions all = new SoftAssertions();
        for (Path document : documents()) {
            String text = CODE.matcher(Files.readString(document)).replaceAll("");
            LINK.matcher(text).results().forEach(link -> {
                Path target = link.group(1).isEmpty() ? document : document.resolveSibling(link.group(1));
                all.assertThat(target).as("link in %s", document).exists();
                if (link.group(2) != null && Files.isRegularFile(target)) {
                    all.assertThat(anchors(target))
                            .as("%s, linked to by %s", target, document)
                            .contains(link.group(2));
                }
            });
        }
        all.assertAll();
    }

    @Test
    void readmeAndTableOfContentsLinkToEveryDocument() throws IOException {
        Path readme = ROOT.resolve("README.md");
        Path contents = ROOT.resolve("docs/README.md");
        Set<Path> linked = links(readme);
        assertThat(linked).contains(contents.normalize());
        linked.addAll(links(contents));
        assertThat(linked)
                .containsAll(documents().stream()
                        .map(Path::normalize)
                        .filter(document -> !document.equals(readme.normalize()))
                        .toList());
    }

    private static Set<Path> links(Path document) {
        Set<Path> linked = new HashSet<>();
        LINK.matcher(DocumentedNamesTest.readPath(document))
                .results()
                .forEach(link ->
                        linked.add(document.resolveSibling(link.group(1)).normalize()));
        return linked;
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

    /** Returns the anchors of a document, as Markdown viewers generate them: repeated headings have a number. */
    private static Set<String> anchors(Path document) {
        Map<String, Integer> seen = new HashMap<>();
        Set<String> anchors = new HashSet<>();
        HEADING.matcher(FENCE.matcher(DocumentedNamesTest.readPath(document)).replaceAll(""))
                .results()
                .map(heading -> heading.group(1)
                        .replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'))
                .forEach(anchor -> {
                    int times = seen.merge(anchor, 1, Integer::sum);
                    anchors.add(times == 1 ? anchor : anchor + "-" + (times - 1));
                });
        return anchors;
    }
}
