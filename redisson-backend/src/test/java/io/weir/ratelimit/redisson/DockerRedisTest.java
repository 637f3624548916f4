// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether there is a Docker with the image is known soon, whatever listens there. */
class DockerRedisTest {
    private static final String IMAGE = "redis:7.2-alpine";

    @TempDir
    private Path folder;

    @Test
    void withoutASocketThereIsNoDocker() {
        assertThat(DockerRedis.missing(folder.resolve("docker.sock"), IMAGE)).contains("Docker is not there");
    }

    @Test
    void anImageThatIsThereIsFound() throws IOException {
        assertThat(asked("HTTP/1.1 200 OK\r\n\r\n{}")).isEmpty();
    }

    @Test
    void anImageThatIsNotThereIsNotPulled() throws IOException {
        assertThat(asked("HTTP/1.1 404 Not Found\r\n\r\n{}"))
                .contains("Docker has no image redis:7.2-alpine (HTTP/1.1 404 Not Found)");
    }

    @Test
    void aDockerThatDoesNotAnswerIsPassedOver() throws IOException {
        long start = System.nanoTime();
        assertThat(asked("")).contains("Docker does not answer");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    }

    private Optional<String> asked(String answer) throws IOException {
        Path socket = folder.resolve("docker.sock");
        try (ServerSocketChannel docker = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            docker.bind(UnixDomainSocketAddress.of(socket));
            if (!answer.isEmpty()) {
                DockerRedis.onThreadOfItsOwn(() -> answer(docker, answer));
            }
            return DockerRedis.missing(socket, IMAGE);
        }
    }

    private static void answer(ServerSocketChannel docker, String answer) {
        try (SocketChannel client = docker.accept()) {
            client.read(ByteBuffer.allocate(1_024));
            client.write(ByteBuffer.wrap(answer.getBytes(UTF_8)));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
