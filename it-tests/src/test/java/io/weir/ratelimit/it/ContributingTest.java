// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of modules and packages in CONTRIBUTING.md. */
class ContributingTest {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z-]+)` \\| (?:`([a-z.]+)`)? ?\\| [^|]+ \\|$");
    private static final String NO_PACKAGE = "none";

    @Test
    void listsEachModuleAndEachPackageOfMainCodeOnce() throws IOException {
        String page = Files.readString(Pom.ROOT.resolve("CONTRIBUTING.md"));
        String table = page.substring(page.indexOf("## Where things are"));
        List<String> listed = ROW.matcher(table)
                .results()
                .map(row -> row.group(1) + ": " + Objects.requireNonNullElse(row.group(2), NO_PACKAGE))
                .toList();
        assertThat(listed).as("rows of the form of the others").hasSize((int)
                table.lines().filter(line -> line.startsWith("| `")).count());
        Set<String> existing = new TreeSet<>();
        for (String module : Pom.of(Pom.ROOT).texts("/project/modules/module")) {
            packages(Pom.ROOT.resolve(module).resolve("src/main/java"))
                    .forEach(name -> existing.add(module + ": " + name));
        }
        assertThat(listed).containsExactlyInAnyOrderElementsOf(existing);
    }

    /** Returns the packages with classes below a source folder, or {@link #NO_PACKAGE} if there is none. */
    private static Set<String> packages(Path sources) throws IOException {
        if (!Files.isDirectory(sources)) {
            return Set.of(NO_PACKAGE);
        }
        try (Stream<Path> files = Files.walk(sources)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .map(file -> sources.relativize(file.getParent()).toString().replace('/', '.'))
                    .collect(Collectors.toSet());
        }
    }
}
