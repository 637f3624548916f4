// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The other modules use the core by few types besides those of its door, which is the package {@code runtime}. */
class CoreTypesTest {
    /** The types of the core that other modules name. A change that needs one more should ask whether the door can offer it. */
    private static final int NAMED_BY_OTHER_MODULES = 44;

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final List<String> OTHER_MODULES = List.of(
            "interceptor",
            "operations",
            "client",
            "redisson-backend",
            "test-kit",
            "tck",
            "envoy",
            "quarkus/runtime",
            "quarkus/deployment",
            "nemesis");

    /** An import, up to the first name in upper case. */
    private static final Pattern NAMED = Pattern.compile(
            "^import (?:static )?(io\\.weir\\.ratelimit\\.core(?:\\.[a-z]\\w*)+\\.[A-Z]\\w*)", Pattern.MULTILINE);

    @Test
    void otherModulesNameFewTypesOfTheCore() throws IOException {
        Set<String> named = new TreeSet<>();
        for (String module : OTHER_MODULES) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(file -> addNamed(file, named));
            }
        }
        assertThat(named).hasSize(NAMED_BY_OTHER_MODULES);
    }

    private static void addNamed(Path file, Set<String> named) {
        try {
            Matcher matcher = NAMED.matcher(Files.readString(file));
            while (matcher.find()) {
                named.add(matcher.group(1));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
