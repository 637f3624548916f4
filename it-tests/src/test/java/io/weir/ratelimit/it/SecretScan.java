// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A search for secrets in the output of a server. All secrets of tests contain the word canary. */
final class SecretScan {
    private static final String CANARY = "canary";

    private SecretScan() {}

    /** Verifies that no log of a server contains a secret: messages, trace, first failure data, console. */
    static void verifyAbsent(Path userDirectory, String... files) {
        try (Stream<Path> walk = Files.walk(userDirectory)) {
            List<Path> written = walk.filter(file ->
                            file.toString().endsWith(".log") && !file.toString().contains("tranlog"))
                    .toList();
            assertThat(written)
                    .extracting(file -> file.getFileName().toString())
                    .contains(files);
            for (Path file : written) {
                assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
                        .as("%s", file)
                        .doesNotContain(CANARY);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
