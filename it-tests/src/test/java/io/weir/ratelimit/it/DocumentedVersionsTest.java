// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** The POM snippets of the documents name the versions of the build. */
class DocumentedVersionsTest {
    private static final Pattern ARTIFACT =
            Pattern.compile("<artifactId>([^<]+)</artifactId>\\s*<version>([^<]+)</version>");
    private static final Pattern SERVER =
            Pattern.compile("<payaraVersion>([^<]+)<|<location>org\\.wildfly:wildfly-galleon-pack:([^<]+)<");

    private static final Pattern SERVER_ROW =
            Pattern.compile("(?m)^\\| \\[[^]]+]\\([^)]*how-to/([a-z-]+)\\.md(?:#[^)]*)?\\) \\| ([^| ]+) \\|");

    @Test
    void snippetsNameTheVersionsOfTheBuild() throws IOException {
        Map<String, String> versions = versions();
        SoftAssertions all = new SoftAssertions();
        for (Path document : documents()) {
            ARTIFACT.matcher(Files.readString(document)).results().forEach(artifact -> {
                String name = artifact.group(1);
                String expected = name.startsWith("weir-") ? Pom.version() : versions.get(name);
                if (!name.equals("shop")) {
                    all.assertThat(artifact.group(2))
                            .as("%s in %s", name, document)
                            .isEqualTo(expected);
                }
            });
        }
        all.assertAll();
    }

    @Test
    void serverPagesNameTheServersOfTheBuild() throws IOException {
        String pages = Files.readString(Pom.ROOT.resolve("docs/how-to/payara.md"))
                + Files.readString(Pom.ROOT.resolve("docs/how-to/wildfly.md"));
        List<String> named = SERVER.matcher(pages)
                .results()
                .map(server -> server.group(1) == null ? server.group(2) : server.group(1))
                .toList();
        Pom parent = Pom.of(Pom.ROOT);
        assertThat(named)
                .containsExactly(
                        property(parent, "payara.version"),
                        property(parent, "payara7.version"),
                        property(parent, "wildfly.version"));
    }

    @Test
    void theTableOfServersNamesTheServersOfTheBuild() throws IOException {
        Map<String, String> versions = new HashMap<>();
        SERVER_ROW
                .matcher(Files.readString(Pom.ROOT.resolve("docs/reference/compatibility.md")))
                .results()
                .forEach(row -> versions.merge(row.group(1), row.group(2), (one, other) -> one + ", " + other));
        Pom parent = Pom.of(Pom.ROOT);
        Map<String, String> expected = Map.of(
                "open-liberty",
                property(parent, "openliberty.version") + ", " + property(parent, "openliberty-ee11.version"),
                "payara",
                property(parent, "payara.version") + ", " + property(parent, "payara7.version"),
                "glassfish",
                property(parent, "glassfish.version"),
                "helidon",
                property(parent, "helidon.version"),
                "quarkus",
                property(Pom.of(Pom.ROOT.resolve("quarkus")), "quarkus.version"));
        assertThat(versions).containsAllEntriesOf(expected);
        assertThat(versions.get("wildfly"))
                .startsWith(property(parent, "wildfly.version") + ", " + property(parent, "wildfly-preview.version"));
    }

    private static Map<String, String> versions() {
        Pom parent = Pom.of(Pom.ROOT);
        Map<String, String> versions = new HashMap<>();
        for (Node node : parent.nodes("//*[artifactId and version]")) {
            Element element = (Element) node;
            String version = child(element, "version");
            if (version.startsWith("${")) {
                version = property(parent, version.substring(2, version.length() - 1));
            }
            versions.put(child(element, "artifactId"), version);
        }
        versions.put("junit-jupiter", versions.get("junit-bom"));
        return versions;
    }

    private static String property(Pom pom, String name) {
        return pom.text("/project/properties/" + name)
                .or(() -> pom.text("/project/" + name.replace("project.", "")))
                .orElseThrow();
    }

    private static String child(Element element, String name) {
        return element.getElementsByTagName(name).item(0).getTextContent().strip();
    }

    private static List<Path> documents() throws IOException {
        try (Stream<Path> docs = Files.walk(Pom.ROOT.resolve("docs"))) {
            return Stream.concat(Stream.of(Pom.ROOT.resolve("README.md")), docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList();
        }
    }
}
