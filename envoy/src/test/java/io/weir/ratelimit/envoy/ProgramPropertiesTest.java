// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.ConfigProperties;
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
    private static final String LIMIT = "ratelimit.policies.api.limit";

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
    void anExpressionIsNoValue() throws Exception {
        String secret = "ratelimit.key-secret";
        Path file = Files.writeString(
                folder.resolve("edge.properties"), secret + "=${X_SECRET_OF_TEST}\nratelimit.namespace=shop\n");
        Map<String, String> environment =
                Map.of("X_SECRET_OF_TEST", "0123456789abcdef", "RATELIMIT_NAMESPACE", "${NS}");
        ConfigProperties read = new ProgramProperties(List.of(file), environment, new Properties()).first();
        assertThat(read.get(secret).readable()).isFalse();
        assertThat(read.get("ratelimit.namespace").readable()).isFalse();
        Map<String, String> variable = Map.of("RATELIMIT_KEY_SECRET", "0123456789abcdef");
        assertThat(new ProgramProperties(List.of(file), variable, new Properties())
                        .first()
                        .get(secret)
                        .value())
                .hasValue("0123456789abcdef");
    }

    @Test
    void anotherInvalidPortIsKept() throws Exception {
        assertThat(with("eight").first().get(PORT).value()).hasValue("eight");
    }

    @Test
    @Tag("field")
    void anEmptyFileKeepsItsLastPropertiesBelowOtherSources() throws Exception {
        Path base = Files.writeString(folder.resolve("base.properties"), LIMIT + "=100/1m\n");
        Path edge = Files.writeString(folder.resolve("edge.properties"), LIMIT + "=5/1m\n" + PORT + "=9000\n");
        ProgramProperties properties = new ProgramProperties(List.of(base, edge), Map.of(), new Properties());
        for (String content : List.of("", "# the rest is not written yet")) {
            Files.writeString(edge, content);
            ConfigProperties read = properties.get();
            assertThat(read.names()).isEqualTo(properties.first().names());
            assertThat(read.get(LIMIT).value()).hasValue("100/1m");
            assertThat(read.get(PORT).value()).hasValue("9000");
            assertThat(read.source(PORT)).isEqualTo(edge.toString());
            assertThat(read.problems()).singleElement().asString().contains("WEIR-324 file " + edge);
        }
        Files.writeString(edge, LIMIT + "=6/1m\n");
        ConfigProperties filled = properties.get();
        assertThat(filled.names()).containsExactly(LIMIT);
        assertThat(filled.get(LIMIT).value()).hasValue("6/1m");
        assertThat(filled.problems()).isEmpty();
    }
}
