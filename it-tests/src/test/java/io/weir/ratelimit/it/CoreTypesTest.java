// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The released modules use few types of the core besides those of its door, which is the package {@code runtime}. */
class CoreTypesTest {
    /** The number may fall, not rise: the door offers what another module needs. Nested types count with their outer type. */
    private static final int NAMED = 44;

    /** An import of the core, up to the name of the type in a file. */
    private static final String IMPORT =
            "(?m)^import (?:static )?(io\\.weir\\.ratelimit\\.core(?:\\.[a-z]+)+\\.[A-Z]\\w*)";

    @Test
    void otherModulesNameFewTypes() throws IOException {
        Set<String> named = new TreeSet<>();
        for (Pom module : Pom.released()) {
            Path sources = module.folder().resolve("src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                files.filter(file -> file.toString().endsWith(".java") && !sources.endsWith("core/src/main/java"))
                        .map(DocumentedNamesTest::readPath)
                        .forEach(source -> named.addAll(OperationsFiles.found(source, IMPORT)));
            }
        }
        assertThat(named).hasSizeLessThanOrEqualTo(NAMED);
    }
}
