// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** An application has its own version of JUnit, so the kit brings none: parts of different versions do not work together. */
class TransitiveJUnitTest {
    @Test
    void theKitBringsNoPartOfJUnit() throws Exception {
        NodeList dependencies = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(Path.of("pom.xml").toFile())
                .getElementsByTagName("dependency");
        assertThat(IntStream.range(0, dependencies.getLength())
                        .mapToObj(i -> (Element) dependencies.item(i))
                        .filter(dependency -> text(dependency, "groupId").startsWith("org.junit"))
                        .map(dependency -> text(dependency, "artifactId") + " " + text(dependency, "scope")))
                .containsExactlyInAnyOrder("junit-jupiter-api provided", "junit-platform-launcher test");
    }

    private static String text(Element dependency, String name) {
        NodeList found = dependency.getElementsByTagName(name);
        return found.getLength() == 0 ? "compile" : found.item(0).getTextContent();
    }
}
