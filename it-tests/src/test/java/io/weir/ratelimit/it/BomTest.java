// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Node;

class BomTest {
    private static final String MANAGED = "/project/dependencyManagement/dependencies/dependency";
    private static final String PLUGINS = "//pluginManagement/plugins/plugin";

    private final Pom parent = Pom.of(Pom.ROOT);
    private final Pom bom = Pom.of(Pom.ROOT.resolve("bom"));

    @Test
    void bomHasExactlyTheReleasedJars() {
        Stream<String> released = Pom.released().stream().map(Pom::artifact);
        assertThat(bom.nodes(MANAGED).stream()
                        .map(dependency -> child(dependency, "artifactId")
                                + (child(dependency, "type").isEmpty() ? "" : ":" + child(dependency, "type"))))
                .containsExactlyInAnyOrderElementsOf(released.toList());
        assertThat(bom.nodes(MANAGED)).allSatisfy(dependency -> {
            assertThat(child(dependency, "groupId")).isEqualTo("io.weir");
            assertThat(child(dependency, "version")).isEqualTo("${project.version}");
            assertThat(child(dependency, "scope")).isEmpty();
        });
    }

    /** The BOM, and the parent of the modules for Quarkus. */
    @ParameterizedTest
    @ValueSource(strings = {"bom", "quarkus"})
    void pomWithoutParentMatchesTheParent(String folder) {
        Pom pom = Pom.of(Pom.ROOT.resolve(folder));
        assertThat(pom.text("/project/parent")).isEmpty();
        assertThat(pom.text("/project/version")).isEqualTo(parent.text("/project/version"));
        assertThat(parent.text("/project/properties/project.build.outputTimestamp"))
                .isPresent()
                .isEqualTo(pom.text("/project/properties/project.build.outputTimestamp"));
        assertThat(parent.text("/project/licenses")).isPresent().isEqualTo(pom.text("/project/licenses"));
        assertThat(parent.text("/project/developers")).isPresent().isEqualTo(pom.text("/project/developers"));
        assertThat(parent.text("/project/url")).isEqualTo(pom.text("/project/url"));
        assertThat(parent.text("/project/scm/url")).isEqualTo(pom.text("/project/scm/url"));
        Map<String, String> versions = versions(pom);
        versions.values().removeAll(pom.texts("/project/properties/quarkus.version"));
        assertThat(versions(parent)).containsAllEntriesOf(versions);
        assertThat(processors(parent)).containsAll(processors(pom));
    }

    /** Returns the static checks of the compiler and of the format, with their versions. */
    private static List<String> processors(Pom pom) {
        return Stream.of("error-prone", "nullaway", "palantir-java-format")
                .flatMap(name -> pom.texts("/project/properties/" + name + ".version").stream()
                        .map(version -> name + " " + version))
                .toList();
    }

    private static Map<String, String> versions(Pom pom) {
        Map<String, String> versions = new TreeMap<>();
        pom.nodes(PLUGINS).stream()
                .filter(plugin -> !child(plugin, "version").isEmpty()) // a profile adds no version
                .forEach(plugin -> versions.put(child(plugin, "artifactId"), resolved(pom, child(plugin, "version"))));
        return versions;
    }

    private static String resolved(Pom pom, String value) {
        return value.startsWith("${")
                ? pom.text("/project/properties/" + value.substring(2, value.length() - 1))
                        .orElseThrow()
                : value;
    }

    private static String child(Node node, String name) {
        try {
            return (String) XPathFactory.newInstance().newXPath().evaluate(name, node, XPathConstants.STRING);
        } catch (XPathExpressionException e) {
            throw new IllegalArgumentException(name, e);
        }
    }
}
