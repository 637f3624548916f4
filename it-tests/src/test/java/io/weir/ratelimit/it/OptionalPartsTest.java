// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** The modules that an application carries without a plug-in. */
class OptionalPartsTest {
    private static final Map<String, Pom> MODULES = Pom.released().stream()
            .collect(Collectors.toMap(Pom::artifact, pom -> pom, (one, other) -> one, TreeMap::new));

    @Test
    void anApplicationInProcessHasNoClassOfAPlugin() throws IOException {
        Set<String> modules = withDependencies("weir-interceptor");
        assertThat(modules).containsExactly("weir-api", "weir-core", "weir-interceptor");
        for (String module : modules) {
            assertThat(packages(MODULES.get(module).folder()))
                    .as(module)
                    .noneMatch(name -> name.matches("io\\.weir\\.ratelimit\\.(client|operations|console)(\\..*)?"));
        }
    }

    @Test
    void noPluginDependsOnAHostOrABackend() {
        assertThat(withDependencies("weir-client")).containsExactly("weir-api", "weir-client", "weir-core");
        assertThat(withDependencies("weir-operations")).containsExactly("weir-api", "weir-core", "weir-operations");
        assertThat(withDependencies("weir-redisson-backend"))
                .containsExactly("weir-api", "weir-core", "weir-redisson-backend");
    }

    @Test
    void theServerForEnvoyDependsOnNoOtherHost() {
        assertThat(withDependencies("weir-envoy"))
                .containsExactly("weir-api", "weir-core", "weir-envoy", "weir-operations");
    }

    /** Returns an artifact and the artifacts of this build that an application gets with it. */
    private static Set<String> withDependencies(String artifact) {
        Set<String> all = new TreeSet<>(Set.of(artifact));
        for (Node dependency : MODULES.get(artifact).nodes("/project/dependencies/dependency")) {
            String name = text(dependency, "artifactId");
            boolean carried = text(dependency, "scope").isEmpty()
                    && text(dependency, "optional").isEmpty();
            if (carried && MODULES.containsKey(name)) {
                all.addAll(withDependencies(name));
            }
        }
        return all;
    }

    private static String text(Node dependency, String name) {
        Node found = ((Element) dependency).getElementsByTagName(name).item(0);
        return found == null ? "" : found.getTextContent().strip();
    }

    private static Set<String> packages(Path module) throws IOException {
        Path sources = module.resolve("src/main/java");
        try (Stream<Path> files = Files.walk(sources)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .map(file -> sources.relativize(file.getParent()).toString().replace('/', '.'))
                    .collect(Collectors.toSet());
        }
    }
}
