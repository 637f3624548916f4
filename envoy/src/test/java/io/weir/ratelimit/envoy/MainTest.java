// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program as a process: its exit status, its messages and its end. */
@Tag("server")
@Timeout(180)
class MainTest {
    @TempDir
    private Path folder;

    private Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Dratelimit.envoy.port=0",
                "-Dratelimit.envoy.drain=0s",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Main.class.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output().toFile())
                .start();
    }

    private Path output() {
        return folder.resolve("output");
    }

    @Test
    void anInvalidConfigurationEndsTheProgramWithAllProblems() throws Exception {
        Path file = Files.writeString(
                folder.resolve("edge.properties"), "ratelimit.policies.a.limit=x\nratelimit.policies.b.mode=y\n");
        Process program = start(file.toString());
        assertThat(program.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(program.exitValue()).isEqualTo(Main.INVALID_CONFIGURATION);
        assertThat(Files.readString(output())).contains("ratelimit.policies.a.limit", "ratelimit.policies.b.mode");
    }

    @Test
    void aMissingFileEndsTheProgram() throws Exception {
        Process program = start("missing.properties");
        assertThat(program.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(program.exitValue()).isEqualTo(Main.INVALID_CONFIGURATION);
        assertThat(Files.readString(output())).contains("WEIR-728", "missing.properties");
    }

    @Test
    void aProgramWithoutConfigurationServesUntilItIsStopped() throws Exception {
        Process program = start();
        try {
            while (!Files.readString(output()).contains("WEIR-720")) {
                assertThat(program.waitFor(50, TimeUnit.MILLISECONDS))
                        .as(Files.readString(output()))
                        .isFalse();
            }
            program.destroy();
            assertThat(program.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            program.destroyForcibly();
        }
    }
}
