// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The file of the Unix domain socket: which file a start replaces, which one a stop deletes, and who can connect. */
@Tag("field")
@Timeout(120)
class SocketFileTest {
    @TempDir
    private Path folder;

    private Path socket;

    @BeforeEach
    void name() {
        socket = folder.resolve("envoy.sock");
    }

    private EnvoyServer start(String... more) throws Exception {
        Map<String, String> properties =
                new HashMap<>(Map.of("ratelimit.metrics", "none", "ratelimit.envoy.socket", socket.toString()));
        for (int i = 0; i < more.length; i += 2) {
            properties.put(more[i], more[i + 1]);
        }
        return new EnvoyServer(TestServer.sources(properties), Set.of());
    }

    private boolean isServed() {
        try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            return client.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private Stream<String> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList().stream();
        }
    }

    @Test
    void aFailedStartLeavesTheRunningServer() throws Exception {
        Path invalid = Files.writeString(folder.resolve("invalid.pem"), "-----BEGIN CERTIFICATE-----\nx\n");
        try (EnvoyServer running = start()) {
            assertThat(running.port()).isEqualTo(-1);
            assertThatThrownBy(() -> start(
                            "ratelimit.envoy.tls.certificate", invalid.toString(),
                            "ratelimit.envoy.tls.key", invalid.toString()))
                    .isInstanceOf(GeneralSecurityException.class);
            assertThat(isServed()).isTrue();
        }
    }

    @Test
    void aSecondServerDoesNotReplaceARunningOne() throws Exception {
        try (EnvoyServer running = start()) {
            assertThat(running.port()).isEqualTo(-1);
            assertThatThrownBy(this::start)
                    .isInstanceOf(BindException.class)
                    .hasMessageContainingAll(socket.toString(), "another process");
            assertThat(isServed()).isTrue();
        }
        assertThat(files()).isEmpty();
    }

    @Test
    void theSocketOfADeadProcessIsReplaced() throws Exception {
        try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(socket));
        }
        assertThat(socket).exists();
        try (EnvoyServer server = start()) {
            assertThat(server.port()).isEqualTo(-1);
            assertThat(isServed()).isTrue();
            assertThat(files()).containsExactly("envoy.sock");
        }
        assertThat(files()).isEmpty();
    }

    @Test
    void anotherFileIsKept() throws Exception {
        Files.writeString(socket, "text");
        assertThatThrownBy(this::start)
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll(socket.toString(), "not a socket");
        assertThat(socket).hasContent("text");
    }

    @Test
    void aStopLeavesTheSocketOfTheSuccessor() throws Exception {
        EnvoyServer old = start();
        Files.delete(socket);
        try (EnvoyServer successor = start()) {
            assertThat(successor.port()).isEqualTo(-1);
            old.close();
            assertThat(isServed()).isTrue();
        }
    }

    @Test
    void theGroupOfTheSocketCanConnect() throws Exception {
        try (EnvoyServer server = start()) {
            assertThat(server.port()).isEqualTo(-1);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)))
                    .isEqualTo("rw-rw----");
        }
    }
}
