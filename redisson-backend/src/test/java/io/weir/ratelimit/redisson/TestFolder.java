// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A folder for what servers write, removed with all that is in it. */
record TestFolder(Path path) implements AutoCloseable {
    static TestFolder made() {
        try {
            return new TestFolder(Files.createTempDirectory("weir-redis"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A folder inside. */
    String inner(String name) {
        try {
            return Files.createDirectories(path.resolve(name)).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A file inside. */
    String file(String name, String content) {
        try {
            return Files.writeString(path.resolve(name), content).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try (Stream<Path> all = Files.walk(path)) {
            List<Path> innermostFirst = all.sorted(Comparator.reverseOrder()).toList();
            for (Path each : innermostFirst) {
                Files.deleteIfExists(each);
            }
        } catch (NoSuchFileException e) {
            // it is gone
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
