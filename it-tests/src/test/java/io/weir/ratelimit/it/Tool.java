// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.redisson.Required;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A program of this machine that a test cannot do without. */
record Tool(Path program) {
    /**
     * The program of that name on the path.
     *
     * @throws org.opentest4j.TestAbortedException if there is none: the test is skipped, and says so
     * @throws AssertionError if there is none although this run requires it
     */
    static Tool named(String name) {
        Optional<Path> program = Stream.of(
                        System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst();
        if (program.isEmpty()) {
            String missing = "there is no " + name + " on this machine";
            assertThat(Required.tool(name))
                    .as(name + " is required, but " + missing)
                    .isFalse();
            System.out.println("SKIPPED, what needs " + name + ": " + missing);
            Assumptions.abort(missing);
        }
        return new Tool(program.orElseThrow());
    }

    /**
     * Runs it to its end.
     *
     * @return what it wrote
     * @throws AssertionError with what it wrote, if it ended with a status other than 0
     */
    String run(Path folder, String... arguments) {
        try {
            Process process = new ProcessBuilder(Stream.concat(Stream.of(program.toString()), Stream.of(arguments))
                            .toList())
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(output).isZero();
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while " + program + " ran", e);
        }
    }
}
