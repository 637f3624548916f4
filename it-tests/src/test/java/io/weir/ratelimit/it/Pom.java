// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** The POM of a module, without inherited values. */
record Pom(Path folder, Document document) {
    static final Path ROOT = Path.of("..");

    static Pom of(Path folder) {
        try {
            return new Pom(
                    folder,
                    DocumentBuilderFactory.newInstance()
                            .newDocumentBuilder()
                            .parse(folder.resolve("pom.xml").toFile()));
        } catch (ParserConfigurationException | SAXException | IOException e) {
            throw new IllegalStateException("no POM in " + folder, e);
        }
    }

    /** Returns the modules with released jars. */
    static List<Pom> released() {
        return of(ROOT).texts("/project/modules/module").stream()
                .map(module -> of(ROOT.resolve(module)))
                .filter(pom -> pom.text("/project/packaging").isEmpty())
                .filter(pom ->
                        !pom.text("/project/properties/maven.deploy.skip").equals(Optional.of("true")))
                .toList();
    }

    String artifact() {
        return text("/project/artifactId").orElseThrow();
    }

    /** Returns the version of the build. */
    static String version() {
        return of(ROOT).text("/project/version").orElseThrow();
    }

    /** Returns the main jar, which must be built. */
    Path jar() {
        Path jar = folder.resolve("target").resolve(artifact() + "-" + version() + ".jar");
        if (!Files.isRegularFile(jar)) {
            throw new IllegalStateException(jar + " is not built: run Maven with -am");
        }
        return jar;
    }

    Optional<String> text(String path) {
        return texts(path).stream().findFirst();
    }

    List<String> texts(String path) {
        return nodes(path).stream().map(node -> node.getTextContent().strip()).toList();
    }

    List<Node> nodes(String path) {
        try {
            NodeList found =
                    (NodeList) XPathFactory.newInstance().newXPath().evaluate(path, document, XPathConstants.NODESET);
            List<Node> nodes = new ArrayList<>();
            for (int i = 0; i < found.getLength(); i++) {
                nodes.add(found.item(i));
            }
            return nodes;
        } catch (XPathExpressionException e) {
            throw new IllegalArgumentException(path, e);
        }
    }
}
