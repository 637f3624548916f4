// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RequiredTools;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** An external program that a test requires. */
record Tool(Path program) {
    /**
     * Returns a program on the path.
     *
     * @throws org.opentest4j.TestAbortedException if the program is missing, so that the test is skipped
     * @throws AssertionError if the program is missing, but required
     */
    static Tool named(String name) {
        Optional<Path> program = Stream.of(
                        System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst();
        if (program.isEmpty()) {
            String missing = "there is no " + name + " on this machine";
            assertThat(RequiredTools.contains(name))
                    .as(name + " is required, but " + missing)
                    .isFalse();
            System.out.println("SKIPPED, tests that need " + name + ": " + missing);
            Assumptions.abort(missing);
        }
        return new Tool(program.orElseThrow());
    }

    /**
     * Runs the program.
     *
     * @return its output
     * @throws AssertionError with the output, if the exit status is not 0
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
