// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The content of the released jars. */
@Tag("server")
class ReleasedJarsIT {
    private static final Map<String, String> MODULES = Map.of(
            "weir-api", "io.weir.ratelimit",
            "weir-core", "io.weir.ratelimit.core",
            "weir-tck", "io.weir.ratelimit.tck",
            "weir-test-kit", "io.weir.ratelimit.test",
            "weir-envoy", "io.weir.ratelimit.envoy",
            "weir-client", "io.weir.ratelimit.client",
            "weir-interceptor", "io.weir.ratelimit.interceptor",
            "weir-redisson-backend", "io.weir.ratelimit.redisson",
            "weir-operations", "io.weir.ratelimit.operations");

    @Test
    void eachJarHasItsModuleName() {
        for (Pom pom : Pom.released()) {
            assertThat(module(pom).name()).as(pom.artifact()).isEqualTo(MODULES.get(pom.artifact()));
        }
    }

    @Test
    void jarsHaveDifferentPackages() {
        Map<String, String> owners = new HashMap<>();
        for (Pom pom : Pom.released()) {
            Set<String> packages = module(pom).packages();
            assertThat(packages).as(pom.artifact()).isNotEmpty();
            packages.forEach(name ->
                    assertThat(owners.put(name, pom.artifact())).as(name).isNull());
        }
    }

    @Test
    void eachJarHasAManifestAndALicense() throws IOException {
        for (Pom pom : Pom.released()) {
            try (JarFile jar = new JarFile(pom.jar().toFile())) {
                Attributes manifest = jar.getManifest().getMainAttributes();
                assertThat(manifest.getValue("Implementation-Title"))
                        .isEqualTo(pom.text("/project/name").orElseThrow());
                assertThat(manifest.getValue("Implementation-Version")).isEqualTo(Pom.version());
                for (String file : List.of("LICENSE", "NOTICE")) {
                    assertThat(jar.getInputStream(jar.getEntry("META-INF/" + file))
                                    .readAllBytes())
                            .as("%s of %s", file, pom.artifact())
                            .isEqualTo(Files.readAllBytes(Pom.ROOT.resolve(file)));
                }
            }
        }
    }

    @Test
    void thirdPartyLibrariesAreListed() throws IOException {
        Set<String> listed = Pattern.compile("(?m)^\\| `([^`:]+):([^`:]+):([^`]+)` \\| [^|]+ \\| [^|]+ \\|$")
                .matcher(Files.readString(Pom.ROOT.resolve("THIRD-PARTY.md")))
                .results()
                .map(row -> row.group(2) + "-" + row.group(3) + ".jar")
                .collect(Collectors.toCollection(TreeSet::new));
        Path war = Pom.ROOT.resolve("examples/openliberty/target/weir-example-openliberty.war");
        try (JarFile libraries = new JarFile(war.toFile())) {
            assertThat(listed)
                    .containsExactlyInAnyOrderElementsOf(libraries.stream()
                            .map(entry -> entry.getName())
                            .filter(name -> name.startsWith("WEB-INF/lib/") && name.endsWith(".jar"))
                            .map(name -> name.substring("WEB-INF/lib/".length()))
                            // Weir itself and the logging library of the example.
                            .filter(name -> !name.startsWith("weir-") && !name.startsWith("slf4j-jdk14-"))
                            .toList());
        }
    }

    private static ModuleDescriptor module(Pom pom) {
        return ModuleFinder.of(pom.jar()).findAll().iterator().next().descriptor();
    }
}
