// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sources of the program: which one has the value of a property. */
class ProgramPropertiesTest {
    private static final String PORT = "ratelimit.envoy.port";

    @TempDir
    private Path folder;

    private ProgramProperties with(String port) throws Exception {
        Path file = Files.writeString(folder.resolve("edge.properties"), PORT + "=9000\n");
        return new ProgramProperties(List.of(file), Map.of("RATELIMIT_ENVOY_PORT", port), new Properties());
    }

    @Test
    void aVariablePrecedesAFile() throws Exception {
        assertThat(with("9001").first().get(PORT).value()).hasValue("9001");
    }

    @Test
    @Tag("field")
    void theLinkOfAKubernetesServiceIsNoPort() throws Exception {
        for (String protocol : List.of("tcp", "udp", "sctp")) {
            ProgramProperties properties = with(protocol + "://10.0.0.1:8081");
            assertThat(properties.first().get(PORT).value()).hasValue("9000");
            assertThat(properties.get().source(PORT)).endsWith("edge.properties");
        }
    }

    @Test
    void anotherInvalidPortIsKept() throws Exception {
        assertThat(with("eight").first().get(PORT).value()).hasValue("eight");
    }
}
