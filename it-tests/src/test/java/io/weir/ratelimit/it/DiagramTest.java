// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each diagram of the documents with a source beside it is rendered from it, and a page shows and describes each diagram. */
class DiagramTest {
    private static final Path DIAGRAMS = Path.of("../docs/diagrams");
    private static final Pattern LABEL = Pattern.compile("label=\"([^\"]*)\"");
    private static final Pattern TEXT = Pattern.compile("<text [^>]*>([^<]*)</text>");

    @Test
    void eachDiagramShowsTheLabelsOfItsSource() throws IOException {
        try (Stream<Path> files = Files.list(DIAGRAMS)) {
            List<Path> sources =
                    files.filter(file -> file.toString().endsWith(".dot")).toList();
            assertThat(sources).hasSizeGreaterThanOrEqualTo(2);
            for (Path source : sources) {
                String diagram = source.getFileName().toString().replace(".dot", ".svg");
                assertThat(texts(source.resolveSibling(diagram)))
                        .as(diagram)
                        .containsExactlyInAnyOrderElementsOf(labels(source));
            }
        }
    }

    @Test
    void aPageShowsAndDescribesEachDiagram() throws IOException {
        StringBuilder pages = new StringBuilder();
        try (Stream<Path> files = Files.walk(DIAGRAMS.getParent())) {
            files.filter(file -> file.toString().endsWith(".md"))
                    .forEach(page -> pages.append(DocumentedNamesTest.readPath(page)));
        }
        try (Stream<Path> files = Files.list(DIAGRAMS)) {
            assertThat(files.filter(file -> file.toString().endsWith(".svg")))
                    .hasSizeGreaterThanOrEqualTo(7)
                    .allSatisfy(diagram -> assertThat(pages)
                            .containsPattern("!\\[[^]]{40,}]\\([./]*diagrams/" + diagram.getFileName() + "\\)"));
        }
    }

    private static List<String> labels(Path source) {
        return LABEL.matcher(DocumentedNamesTest.readPath(source))
                .results()
                .flatMap(label -> Stream.of(label.group(1).split("\\\\n")))
                .map(String::strip)
                .toList();
    }

    private static List<String> texts(Path diagram) {
        return TEXT.matcher(DocumentedNamesTest.readPath(diagram))
                .results()
                .map(text -> text.group(1)
                        .replace("&#45;", "-")
                        .replace("&#160;", " ")
                        .strip())
                .toList();
    }
}
